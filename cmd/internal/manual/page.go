package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// page is a page in the language of man(7).
type page struct {
	strings.Builder
	begun bool // a part has a paragraph already: the first needs no .PP
}

// begin writes what every page begins with.
func (c Config) begin(name, does string) *page {
	p := &page{}
	p.line(`.TH "%s" "%d" "%s" "Fairlead %s" "Fairlead"`, escaped(strings.ToUpper(name)), c.Section, c.Date, escaped(c.Version))
	p.section("NAME")
	p.line(`%s \- %s`, escaped(name), escaped(does))
	return p
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *page) section(title string) {
	p.line(".SH %s", escaped(strings.ToUpper(title)))
	p.begun = false
}

// subsection is of one command of several.
func (p *page) subsection(title string) {
	p.line(".SS %s", escaped(title))
	p.begun = false
}

// text writes paragraphs, which empty lines part. A line stays one.
func (p *page) text(text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if paragraph == "" {
			continue
		}
		if p.begun {
			p.line(".PP")
		}
		p.begun = true
		lines := strings.Split(strings.TrimSpace(paragraph), "\n")
		for i, line := range lines {
			if i > 0 {
				p.line(".br")
			}
			p.line("%s", escaped(strings.TrimSpace(line)))
		}
	}
}

// tagged writes a word, and beside it what it is.
func (p *page) tagged(tag, text string) {
	p.line(".TP\n%s", tag)
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		p.line("%s", escaped(text))
	}
}

// values writes the arguments and the flags of a command.
func (p *page) values(n *kong.Node) {
	if len(n.Positional) > 0 {
		p.section("ARGUMENTS")
		p.args(n.Positional)
	}
	p.flags(n)
}

func (p *page) args(args []*kong.Positional) {
	for _, a := range args {
		text := a.Help
		if a.Enum != "" && !strings.Contains(text, a.EnumSlice()[0]) {
			text += " One of " + strings.Join(a.EnumSlice(), ", ") + "."
		}
		p.tagged("\\fI"+escaped(a.Name)+"\\fR", text)
	}
}

func (p *page) flags(n *kong.Node) {
	for _, f := range n.Flags {
		if !f.Hidden {
			p.section("FLAGS")
			p.options(n.Flags)
			return
		}
	}
}

func (p *page) options(flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		text := f.Help
		if f.Enum != "" && !strings.Contains(text, f.EnumSlice()[0]) {
			text += " One of " + strings.Join(f.EnumSlice(), ", ") + "."
		}
		if f.HasDefault && f.Default != "" && !f.IsBool() {
			text += " Default: " + f.Default + "."
		}
		if len(f.Envs) > 0 {
			text += " ($" + strings.Join(f.Envs, ", $") + ")"
		}
		p.tagged("\\fB"+escaped(f.String())+"\\fR", text)
	}
}

func (p *page) see(pages []string) {
	if len(pages) > 0 {
		p.section("SEE ALSO")
		p.line("%s", escaped(strings.Join(pages, ", ")))
	}
}

var roff = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`, "`", `\(ga`)

// escaped is text as man(7) takes it: nothing in it is a command or another sign.
func escaped(text string) string {
	text = roff.Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
