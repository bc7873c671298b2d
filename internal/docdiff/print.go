package docdiff

import "strings"

// sides of a line: it is of the one document, of the other, or of both.
type sides byte

const (
	old   sides = 1
	young sides = 2
	both  sides = old | young
)

var marks = [...]byte{old: '-', young: '+', both: ' '}

type line struct {
	of   sides
	text string
}

// printer writes the YAML of two documents at once, line by line: those of the one are that
// one's YAML, those of the other the other's.
type printer struct {
	lines []line
	// lead is, of each document, what its next line begins with instead of spaces: the dash of
	// an item whose first line is not written yet.
	lead [2]string
}

// line writes a line at a depth, in spaces.
func (p *printer) line(of sides, depth int, text string) {
	var begins [2]string
	for side := range begins {
		begins[side], p.lead[side] = p.begin(of, side, depth), p.after(of, side)
	}
	if of == both && begins[0] != begins[1] {
		p.lines = append(p.lines, line{old, begins[0] + text}, line{young, begins[1] + text})
		return
	}
	begin := begins[0]
	if of == young {
		begin = begins[1]
	}
	if text == "" {
		begin = strings.TrimRight(begin, " ")
	}
	p.lines = append(p.lines, line{of, begin + text})
}

func (s sides) has(side int) bool { return s&(1<<side) != 0 }

func (p *printer) begin(of sides, side, depth int) string {
	if of.has(side) && p.lead[side] != "" {
		return p.lead[side]
	}
	return strings.Repeat(" ", depth)
}

func (p *printer) after(of sides, side int) string {
	if of.has(side) {
		return ""
	}
	return p.lead[side]
}

// dash begins an item of a list.
func (p *printer) dash(of sides, depth int) {
	for side := range p.lead {
		if of.has(side) {
			p.lead[side] = p.begin(of, side, depth) + "- "
		}
	}
}

// value writes all of a value. head is the member's key with its colon, or "".
func (p *printer) value(of sides, n *node, head string, depth int) {
	if one, ok := n.inline(); ok {
		p.line(of, depth, strings.TrimPrefix(head+" "+one, " "))
		return
	}
	depth = p.head(of, n, head, depth)
	switch n.kind {
	case object:
		for _, m := range n.members {
			p.value(of, m.value, keyText(m.key), depth)
		}
	case list:
		for _, item := range n.items {
			p.dash(of, depth)
			p.value(of, item, "", depth+2)
		}
	default:
		for _, row := range n.rows() {
			p.line(of, depth, row)
		}
	}
}

// head writes what stands before a value that has lines of its own, and returns their depth.
func (p *printer) head(of sides, n *node, head string, depth int) int {
	block := n.kind == text
	if block {
		p.line(of, depth, strings.TrimPrefix(head+" |", " "))
	} else if head != "" {
		p.line(of, depth, head)
	}
	if head != "" || depth == 0 && block { // a block stands further in than what it is in, if that is nothing too
		depth += 2
	}
	return depth
}

// change writes a value that two documents have, of each what it has.
func (p *printer) change(before, after *node, head string, depth int) {
	_, short := before.inline()
	_, shorter := after.inline()
	switch {
	case before.id == after.id:
		p.value(both, before, head, depth)
		return
	case short || shorter || before.kind != after.kind:
		p.value(old, before, head, depth)
		p.value(young, after, head, depth)
		return
	}
	depth = p.head(both, before, head, depth)
	switch before.kind {
	case object:
		p.objects(before, after, depth)
	case list:
		p.lists(before.items, after.items, depth)
	default:
		p.blocks(before.rows(), after.rows(), depth)
	}
}

func (p *printer) objects(before, after *node, depth int) {
	for _, key := range keysOf(before, after) {
		b, a := before.member(key), after.member(key)
		switch {
		case a == nil:
			p.value(old, b, keyText(key), depth)
		case b == nil:
			p.value(young, a, keyText(key), depth)
		default:
			p.change(b, a, keyText(key), depth)
		}
	}
}

func (p *printer) lists(before, after []*node, depth int) {
	for _, s := range steps(before, after) {
		switch {
		case s.after < 0:
			p.dash(old, depth)
			p.value(old, before[s.before], "", depth+2)
		case s.before < 0:
			p.dash(young, depth)
			p.value(young, after[s.after], "", depth+2)
		default:
			p.dash(both, depth)
			p.change(before[s.before], after[s.after], "", depth+2)
		}
	}
}

// blocks writes two texts of several lines.
func (p *printer) blocks(before, after []string, depth int) {
	s := ids{}
	keys := func(rows []string) []int {
		out := make([]int, len(rows))
		for i, row := range rows {
			out[i] = s.of(row)
		}
		return out
	}
	i, j := 0, 0
	for _, to := range append(align(keys(before), keys(after)), pair{len(before), len(after)}) {
		for ; i < to.before; i++ {
			p.line(old, depth, before[i])
		}
		for ; j < to.after; j++ {
			p.line(young, depth, after[j])
		}
		if i < len(before) {
			p.line(both, depth, before[i])
		}
		i, j = i+1, j+1
	}
}
