package planner

import (
	"maps"
	"sync"
	"weak"
)

// pool holds one value for each content, for as long as somebody uses it.
type pool[K comparable, V any] struct {
	mu   sync.Mutex // guards what follows
	m    map[K]weak.Pointer[V]
	full int // how many contents m has when it drops those that nobody uses
}

func (p *pool[K, V]) get(k K) *V {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.m[k].Value()
}

// put returns v, or the value of that content that somebody else has put.
func (p *pool[K, V]) put(k K, v *V) *V {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.m[k].Value(); old != nil {
		return old
	}
	if len(p.m) >= p.full {
		p.sweep()
	}
	p.m[k] = weak.Make(v)
	return v
}

// sweep drops the contents that nobody uses. It runs each time that m has doubled, which costs a put as much as one more look at
// a content, and m at most as many entries again as are used. A cleanup for each value would be told of all of them one by one.
func (p *pool[K, V]) sweep() {
	if p.m == nil {
		p.m = make(map[K]weak.Pointer[V])
	}
	maps.DeleteFunc(p.m, func(_ K, v weak.Pointer[V]) bool { return v.Value() == nil })
	p.full = max(2*len(p.m), 64)
}
