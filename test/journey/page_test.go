package journey

import (
	"fmt"
	"regexp"
	"strings"
)

// page is a page of Markdown, part by part.
type page []part

// part is some lines of a page: prose or a block that nobody runs, unless it is one of the others.
type part struct {
	lines []string
	steps []step // of a console block
	file  string // the lines between the fences are this file
	await *await
}

// step is a command and what it printed.
type step struct {
	command string
	printed []string
}

// await is a command that is run until it prints the text.
type await struct{ command, text string }

var (
	awaitLine = regexp.MustCompile(`^<!-- await: (.+) => (.+) -->$`)
	fileLine  = regexp.MustCompile(`^# ([a-z-]+\.yaml)$`)
)

// readPage takes a page apart.
func readPage(text string) (p page, err error) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if m := awaitLine.FindStringSubmatch(line); m != nil {
			p = append(p, part{lines: lines[i : i+1], await: &await{m[1], m[2]}})
			continue
		}
		if !strings.HasPrefix(line, "```") {
			p = append(p, part{lines: lines[i : i+1]})
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		if end == len(lines) {
			return nil, fmt.Errorf("line %d: the block has no end", i+1)
		}
		block := part{lines: lines[i : end+1]}
		body := lines[i+1 : end]
		switch {
		case line == "```console":
			block.steps, err = readSteps(body)
		case len(body) > 0 && fileLine.MatchString(body[0]):
			block.file = fileLine.FindStringSubmatch(body[0])[1]
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		p = append(p, block)
		i = end
	}
	return p, nil
}

func readSteps(lines []string) (steps []step, err error) {
	for _, line := range lines {
		command, is := strings.CutPrefix(line, "$ ")
		switch {
		case is:
			steps = append(steps, step{command: command})
		case len(steps) == 0:
			return nil, fmt.Errorf("the block begins with no command but with %q", line)
		default:
			last := &steps[len(steps)-1]
			last.printed = append(last.printed, line)
		}
	}
	return steps, nil
}

// String is the page's text.
func (p page) String() string {
	var lines []string
	for _, part := range p {
		if part.steps == nil {
			lines = append(lines, part.lines...)
			continue
		}
		lines = append(lines, "```console")
		for _, s := range part.steps {
			lines = append(append(lines, "$ "+s.command), s.printed...)
		}
		lines = append(lines, "```")
	}
	return strings.Join(lines, "\n")
}
