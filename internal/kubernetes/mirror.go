package kubernetes

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"
)

// mirror holds what a list, and the watch since then, say of one kind of object: a reflector of client-go writes it. What was there stays while
// nothing is heard.
type mirror[T any] struct {
	take    func(obj any) (T, bool) // what is kept of an object
	same    func(a, b T) bool       // whether a change is one that counts; nil: each is
	changed func()                  // is called after each change, without the lock

	mu     sync.Mutex // guards what follows
	held   map[string]T
	listed bool // a whole list has come
}

var _ cache.ReflectorStore = (*mirror[int])(nil)

// Add takes an object that has come.
func (m *mirror[T]) Add(obj any) error { return m.Update(obj) }

// Update takes an object that has changed.
func (m *mirror[T]) Update(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return err
	}
	next, ok := m.take(obj)
	if !ok {
		return nil
	}
	m.mu.Lock()
	had, there := m.held[key]
	if m.held == nil {
		m.held = map[string]T{}
	}
	m.held[key] = next
	m.mu.Unlock()
	if !there || m.same == nil || !m.same(had, next) {
		m.changed()
	}
	return nil
}

// Delete forgets an object.
func (m *mirror[T]) Delete(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return err
	}
	m.mu.Lock()
	delete(m.held, key)
	m.mu.Unlock()
	m.changed()
	return nil
}

// Replace takes a whole list in the place of what was there.
func (m *mirror[T]) Replace(list []any, _ string) error {
	held := make(map[string]T, len(list))
	for _, obj := range list {
		key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		if err != nil {
			return err
		}
		if next, ok := m.take(obj); ok {
			held[key] = next
		}
	}
	m.mu.Lock()
	m.held, m.listed = held, true
	m.mu.Unlock()
	m.changed()
	return nil
}

// Resync has nothing to do: nobody asks for it.
func (m *mirror[T]) Resync() error { return nil }

// all returns what there is, by key, and whether a whole list has come.
func (m *mirror[T]) all() (objects []T, listed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	objects = make([]T, 0, len(m.held))
	for _, key := range slices.Sorted(maps.Keys(m.held)) {
		objects = append(objects, m.held[key])
	}
	return objects, m.listed
}

// get returns one object; the zero value where it is not there.
func (m *mirror[T]) get(key string) T {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held[key]
}
