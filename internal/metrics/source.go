package metrics

import (
	"slices"
	"sync"
)

// source is where a state is read when somebody asks for metrics.
type source[S any] struct {
	mu   sync.Mutex // guards read
	read func() S   // nil: nobody tells
}

// Watch has the state read by this from now on. It is called by a goroutine of the scrape's, and waits for no more than locks that
// are held shortly.
func (s *source[S]) Watch(read func() S) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = read
}

func (s *source[S]) now() (state S, ok bool) {
	s.mu.Lock()
	read := s.read
	s.mu.Unlock()
	if read == nil {
		return state, false
	}
	return read(), true
}

// sources are several of the same kind.
type sources[S any] struct {
	mu    sync.Mutex // guards reads
	reads []func() S
}

func (s *sources[S]) add(read func() S) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, read)
}

func (s *sources[S]) all() []func() S {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reads)
}
