package planner

import (
	"runtime"
	"sync"
	"weak"
)

// pool holds one value for each content, for as long as somebody uses it.
type pool[K comparable, V any] struct {
	mu sync.Mutex // guards m
	m  map[K]weak.Pointer[V]
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
	if p.m == nil {
		p.m = make(map[K]weak.Pointer[V])
	}
	p.m[k] = weak.Make(v)
	runtime.AddCleanup(v, p.drop, k)
	return v
}

func (p *pool[K, V]) drop(k K) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m[k].Value() == nil {
		delete(p.m, k)
	}
}
