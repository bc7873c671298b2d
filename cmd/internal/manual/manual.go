// Package manual writes the man pages of a program from the definitions that its command line is parsed by.
package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"
)

// Word is what a program is called with, in place of a command, to write its man pages: Word FOLDER DATE.
const Word = "__man"

// Config says what the definitions do not.
type Config struct {
	Name    string // of the page; "": the program's
	Section int    // 1 for commands of everybody, 8 for servers
	Date    string // 2006-01-02
	Version string
	More    []Part // at the end of the program's own page
	See     []string
}

// Part is a part of a page. Its lines stand as they are.
type Part struct{ Title, Text string }

// Asked writes the pages if that is what args ask for, and reports whether they do.
func Asked(args []string, app *kong.Application, c Config) (asked bool, err error) {
	if len(args) != 3 || args[0] != Word {
		return false, nil
	}
	c.Date = args[2]
	for name, text := range Pages(app, c) {
		if err := os.WriteFile(filepath.Join(args[1], name), []byte(text), 0o644); err != nil { //nolint:gosec // everybody may read a manual
			return true, fmt.Errorf("write the man page: %w", err)
		}
	}
	return true, nil
}

// Pages returns a page of the program and one of each of its commands, by file name.
func Pages(app *kong.Application, c Config) map[string]string {
	if c.Name == "" {
		c.Name = app.Name
	}
	pages := map[string]string{}
	see := append([]string{}, c.See...)
	for _, n := range shown(app.Children) {
		name := c.Name + "-" + n.Name
		pages[fmt.Sprintf("%s.%d", name, c.Section)] = c.command(name, n)
		see = append(see, fmt.Sprintf("%s(%d)", name, c.Section))
	}
	pages[fmt.Sprintf("%s.%d", c.Name, c.Section)] = c.program(app, see)
	return pages
}

// program is the page of the whole.
func (c Config) program(app *kong.Application, see []string) string {
	p := c.begin(c.Name, strings.TrimSuffix(app.Help, "."))
	p.section("SYNOPSIS")
	if cs := shown(app.Children); len(cs) > 0 {
		p.line("\\fB%s\\fR \\fICOMMAND\\fR", escaped(app.Name))
		p.section("COMMANDS")
		for _, n := range cs {
			p.tagged("\\fB"+escaped(n.Name)+"\\fR", n.Help)
		}
	} else {
		p.line("\\fB%s\\fR [\\fIFLAGS\\fR]", escaped(app.Name))
	}
	p.flags(app.Node)
	for _, m := range c.More {
		p.section(m.Title)
		p.text(m.Text)
	}
	p.see(see)
	return p.String()
}

// command is the page of a command, with those below it.
func (c Config) command(name string, n *kong.Node) string {
	p := c.begin(name, strings.TrimSuffix(n.Help, "."))
	leaves := []*kong.Node{n}
	if len(n.Children) > 0 {
		leaves = n.Leaves(true)
	}
	p.section("SYNOPSIS")
	for i, l := range leaves {
		if i > 0 {
			p.line(".br")
		}
		p.line("\\fB%s\\fR %s", escaped(l.FullPath()), escaped(synopsis(l)))
	}
	p.section("DESCRIPTION")
	p.text(n.Help)
	p.text(n.Detail)
	if len(n.Children) == 0 {
		p.values(n)
	} else {
		p.flags(n)
		p.section("COMMANDS")
		for _, l := range leaves {
			p.subsection(l.FullPath())
			p.text(l.Help)
			p.text(l.Detail)
			p.args(l.Positional)
			p.options(l.Flags)
		}
	}
	p.see([]string{fmt.Sprintf("%s(%d)", c.Name, c.Section)})
	return p.String()
}

// synopsis is how a command is called, without its own name.
func synopsis(n *kong.Node) string {
	words := []string{}
	for _, f := range n.Flags {
		if f.Required && !f.Hidden {
			words = append(words, f.Summary())
		}
	}
	words = append(words, "[FLAGS]")
	for _, a := range n.Positional {
		words = append(words, a.Summary())
	}
	return strings.Join(words, " ")
}

func shown(all []*kong.Node) (out []*kong.Node) {
	for _, n := range all {
		if !n.Hidden {
			out = append(out, n)
		}
	}
	return out
}
