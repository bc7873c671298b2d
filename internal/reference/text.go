package reference

import (
	"html/template"
	"regexp"
	"strings"
)

// marks are what the contract's descriptions use of Markdown within a paragraph.
var marks = regexp.MustCompile("`[^`]+`|\\*\\*[^*]+\\*\\*|\\*[^*\\s][^*]*\\*")

// prose renders paragraphs.
func prose(s string) template.HTML {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			b.WriteString("<p>" + string(line(paragraph)) + "</p>\n")
		}
	}
	return template.HTML(b.String())
}

// line renders code, strong and emphasised words. All else is text, whatever it looks like.
func line(s string) template.HTML {
	s = strings.TrimSpace(s)
	var b strings.Builder
	at := 0
	for _, m := range marks.FindAllStringIndex(s, -1) {
		b.WriteString(template.HTMLEscapeString(s[at:m[0]]))
		marked, tag, width := s[m[0]:m[1]], "em", 1
		switch {
		case marked[0] == '`':
			tag = "code"
		case strings.HasPrefix(marked, "**"):
			tag, width = "strong", 2
		}
		b.WriteString("<" + tag + ">" + template.HTMLEscapeString(marked[width:len(marked)-width]) + "</" + tag + ">")
		at = m[1]
	}
	b.WriteString(template.HTMLEscapeString(s[at:]))
	return template.HTML(b.String())
}

var variable = regexp.MustCompile(`\{\w+\}`)

// pathOf marks what of a path is filled in.
func pathOf(path string) template.HTML {
	return template.HTML(variable.ReplaceAllString(template.HTMLEscapeString(path), "<var>$0</var>"))
}
