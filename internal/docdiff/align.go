package docdiff

import "sort"

// pair says that an element of the one list is one of the other; -1: of none.
type pair struct{ before, after int }

// deepest bounds how often what lies between two pairs is looked at again.
const deepest = 8

// align pairs the elements of two lists that have equal keys, such that neither list is out of
// its order. It takes what is equal at both ends, then of the keys that each list has once the
// longest run that is in order in both, and looks again at what lies between. It costs n log n.
func align(before, after []int) []pair {
	var out []pair
	alignPart(before, after, 0, 0, deepest, &out)
	return out
}

func alignPart(before, after []int, i, j, depth int, out *[]pair) {
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		*out = append(*out, pair{i, j})
		before, after, i, j = before[1:], after[1:], i+1, j+1
	}
	n, m := len(before), len(after)
	for n > 0 && m > 0 && before[n-1] == after[m-1] {
		n, m = n-1, m-1
	}
	tail := len(before) - n
	if n > 0 && m > 0 && depth > 0 {
		alignBetween(before[:n], after[:m], i, j, depth-1, out)
	}
	for k := range tail {
		*out = append(*out, pair{i + n + k, j + m + k})
	}
}

func alignBetween(before, after []int, i, j, depth int, out *[]pair) {
	anchors := increasing(once(before, after))
	if len(anchors) == 0 {
		return
	}
	from := pair{-1, -1}
	for _, to := range append(anchors, pair{len(before), len(after)}) {
		alignPart(before[from.before+1:to.before], after[from.after+1:to.after], i+from.before+1, j+from.after+1, depth, out)
		if to.before < len(before) {
			*out = append(*out, pair{i + to.before, j + to.after})
		}
		from = to
	}
}

// once pairs the keys that each list has once, in the order of before.
func once(before, after []int) (out []pair) {
	where := func(keys []int) map[int]int { // -1: more than once
		at := make(map[int]int, len(keys))
		for i, k := range keys {
			if _, twice := at[k]; twice {
				i = -1
			}
			at[k] = i
		}
		return at
	}
	first, second := where(before), where(after)
	for i, k := range before {
		if j, ok := second[k]; ok && j >= 0 && first[k] == i {
			out = append(out, pair{i, j})
		}
	}
	return out
}

// increasing is the longest part of ps, which are in the order of before, that is in the order
// of after too.
func increasing(ps []pair) []pair {
	var ends []int // of the runs of each length, the last pair with the smallest after
	from := make([]int, len(ps))
	for n, p := range ps {
		at := sort.Search(len(ends), func(i int) bool { return ps[ends[i]].after >= p.after })
		from[n] = -1
		if at > 0 {
			from[n] = ends[at-1]
		}
		if at == len(ends) {
			ends = append(ends, n)
		} else {
			ends[at] = n
		}
	}
	out := make([]pair, len(ends))
	if len(ends) == 0 {
		return out
	}
	for n, i := ends[len(ends)-1], len(ends)-1; n >= 0; n, i = from[n], i-1 {
		out[i] = ps[n]
	}
	return out
}

// steps pairs the items of two lists, those that are alone too, in an order in which both lists
// are in theirs. Between two pairs of equal elements, or of equal names, what has no name is
// paired by its place.
func steps(before, after []*node) (out []pair) {
	keys := func(ns []*node) []int {
		out := make([]int, len(ns))
		for i, n := range ns {
			out[i] = n.key
		}
		return out
	}
	i, j := 0, 0
	for _, p := range append(align(keys(before), keys(after)), pair{len(before), len(after)}) {
		out = append(out, gap(before, after, pair{i, j}, p)...)
		if p.before < len(before) {
			out = append(out, p)
		}
		i, j = p.before+1, p.after+1
	}
	return out
}

func gap(before, after []*node, from, to pair) (out []pair) {
	i, j := from.before, from.after
	for i < to.before || j < to.after {
		switch {
		case i < to.before && (j == to.after || before[i].named()):
			out = append(out, pair{i, -1})
			i++
		case j < to.after && (i == to.before || after[j].named()):
			out = append(out, pair{-1, j})
			j++
		case before[i].kind != after[j].kind:
			out = append(out, pair{i, -1}, pair{-1, j})
			i, j = i+1, j+1
		default:
			out = append(out, pair{i, j})
			i, j = i+1, j+1
		}
	}
	return out
}

// keysOf are the keys of two objects, those of both once, in an order in which those of each
// are in theirs as far as the two agree.
func keysOf(before, after *node) (out []string) {
	other := func(n *node) map[string]bool {
		has := make(map[string]bool, len(n.members))
		for _, m := range n.members {
			has[m.key] = true
		}
		return has
	}
	old, young, done := other(before), other(after), map[string]bool{}
	take := func(key string) {
		if !done[key] {
			out, done[key] = append(out, key), true
		}
	}
	j := 0
	for _, m := range before.members {
		if young[m.key] { // what is new stands before its successor
			for ; j < len(after.members) && !old[after.members[j].key]; j++ {
				take(after.members[j].key)
			}
			if j < len(after.members) && after.members[j].key == m.key {
				j++
			}
		}
		take(m.key)
	}
	for ; j < len(after.members); j++ {
		take(after.members[j].key)
	}
	return out
}
