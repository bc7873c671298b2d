package selector

import "slices"

// hang hangs every selector on one of its requirements.
func (x *Index) hang() {
	n := countCrowds(x.selectors)
	b := builder{x: x, at: map[string]int{}}
	x.left = make([][]requirement, len(x.selectors))
	for i, s := range x.selectors {
		id := int32(i) //nolint:gosec // a fleet has no 2^31 selectors
		h := n.hook(s)
		if h < 0 {
			x.left[i], x.always = s.requirements, append(x.always, id)
			continue
		}
		x.left[i] = slices.Concat(s.requirements[:h], s.requirements[h+1:])
		b.hang(id, &s.requirements[h])
	}
	for k := range x.keys {
		x.keys[k].prefixes = newPrefixes(b.prefixed[k])
	}
}

// builder fills the keys of an index.
type builder struct {
	x        *Index
	at       map[string]int       // of a key's text, in x.keys
	prefixed []map[string][]int32 // as x.keys: what hangs on each prefix
}

// hang hangs the selector on its requirement.
func (b *builder) hang(id int32, r *requirement) {
	at, ok := b.at[r.key.text]
	if !ok {
		at = len(b.x.keys)
		b.at[r.key.text] = at
		b.x.keys = append(b.x.keys, keyIndex{key: r.key, values: map[string][]int32{}})
		b.prefixed = append(b.prefixed, map[string][]int32{})
	}
	k := &b.x.keys[at]
	switch r.op {
	case opIn:
		for _, v := range r.values {
			k.values[v] = append(k.values[v], id)
		}
	case opPrefix:
		b.prefixed[at][r.values[0]] = append(b.prefixed[at][r.values[0]], id)
	default:
		k.present = append(k.present, id)
	}
}

// crowd is what selectors may hang on: a key's value, or a prefix.
type crowd struct {
	key   string
	op    operator
	value string
}

// crowds counts the selectors that could hang on each.
type crowds map[crowd]int

func countCrowds(selectors []Selector) crowds {
	n := crowds{}
	for _, s := range selectors {
		for _, r := range s.requirements {
			if r.op == opIn || r.op == opPrefix {
				for _, v := range r.values {
					n[crowd{r.key.text, r.op, v}]++
				}
			}
		}
	}
	return n
}

// hook returns the requirement that the selector hangs on, -1 for none.
func (n crowds) hook(s Selector) int {
	best, least := -1, 0
	for i, r := range s.requirements {
		if r.op != opIn && r.op != opPrefix {
			continue
		}
		size := 0
		for _, v := range r.values {
			size = max(size, n[crowd{r.key.text, r.op, v}])
		}
		if best < 0 || size < least {
			best, least = i, size
		}
	}
	if best < 0 {
		best = slices.IndexFunc(s.requirements, func(r requirement) bool { return r.op == opPresent })
	}
	return best
}
