package docdiff

import (
	"fmt"
	"strings"
)

// Context is how many lines around a change a diff usually shows.
const Context = 3

// Unified writes the difference as a unified diff of the documents' YAML, with so many lines
// around each change. from and to name the two documents; where there is none the name is
// /dev/null. It is "" where there is no difference.
func (d Diff) Unified(from, to string, context int) string {
	if d.Same() {
		return ""
	}
	var p printer
	switch {
	case d.before == nil:
		from = "/dev/null"
		p.value(young, d.after, "", 0)
	case d.after == nil:
		to = "/dev/null"
		p.value(old, d.before, "", 0)
	default:
		p.change(d.before, d.after, "", 0)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for _, h := range hunks(p.lines, context) {
		h.write(&b, p.lines)
	}
	return b.String()
}

// hunk is a part of the lines, and how many of each document stand before it.
type hunk struct {
	from, to int
	before   [2]int
}

// hunks are what has changed, with its surroundings; what is close is one.
func hunks(lines []line, context int) (out []hunk) {
	var seen [2]int
	quiet := 0 // unchanged lines since the last change
	for i, l := range lines {
		open := len(out) > 0 && quiet <= 2*context
		switch {
		case l.of != both && !open:
			n := min(quiet, context)
			out = append(out, hunk{from: i - n, before: [2]int{seen[0] - n, seen[1] - n}})
			fallthrough
		case l.of != both:
			out[len(out)-1].to = i + 1
			quiet = 0
		default:
			quiet++
		}
		for side := range seen {
			if l.of.has(side) {
				seen[side]++
			}
		}
	}
	for i := range out {
		for n := 0; n < context && out[i].to < len(lines) && lines[out[i].to].of == both; n++ {
			out[i].to++
		}
	}
	return out
}

func (h hunk) write(b *strings.Builder, lines []line) {
	var count [2]int
	for _, l := range lines[h.from:h.to] {
		for side := range count {
			if l.of.has(side) {
				count[side]++
			}
		}
	}
	fmt.Fprintf(b, "@@ -%s +%s @@\n", span(h.before[0], count[0]), span(h.before[1], count[1]))
	for _, l := range lines[h.from:h.to] {
		b.WriteByte(marks[l.of])
		b.WriteString(l.text)
		b.WriteByte('\n')
	}
}

// span is where lines stand, as diff writes it: of no line, the one before.
func span(before, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", before)
	case 1:
		return fmt.Sprint(before + 1)
	}
	return fmt.Sprintf("%d,%d", before+1, count)
}
