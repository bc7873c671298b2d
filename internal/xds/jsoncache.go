package xds

import (
	"sync"

	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// mostResourcesKept is how many bytes of JSON of resources are kept.
const mostResourcesKept = 64 << 20

// jsonCache has resources as JSON: answers for one name more or less than others had differ in that resource. It keeps what was asked for lately, by halves.
type jsonCache struct {
	mu        sync.Mutex // guards what follows
	now, last map[*snapshot.Resource][]byte
	size      int // of now
}

func (c *jsonCache) of(r *snapshot.Resource) ([]byte, error) {
	if b := c.get(r); b != nil {
		return b, nil
	}
	b, err := planner.ResourceJSON(r)
	if err != nil {
		return nil, err //nolint:wrapcheck // the response says of what
	}
	c.put(r, b)
	return b, nil
}

func (c *jsonCache) get(r *snapshot.Resource) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.now[r]
	if b == nil {
		if b = c.last[r]; b != nil {
			c.add(r, b)
		}
	}
	return b
}

func (c *jsonCache) put(r *snapshot.Resource, b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(r, b)
}

// add forgets what was not asked for since the last half began, where a half is full. c.mu is held.
func (c *jsonCache) add(r *snapshot.Resource, b []byte) {
	size := len(b) + 128
	if size > mostResourcesKept/2 {
		return
	}
	if c.now == nil || c.size+size > mostResourcesKept/2 {
		c.now, c.last, c.size = make(map[*snapshot.Resource][]byte), c.now, 0
	}
	c.now[r] = b
	c.size += size
}
