package planner

// LackedHeld counts the clusters that are remembered of what the client refuses, for lack of which it may be.
func (c *Client) LackedHeld() (n int) {
	if c.rec == nil {
		return 0
	}
	for i := range c.rec.types {
		p := &c.rec.types[i]
		for _, x := range p.refused {
			n += len(x.lacked)
		}
		for x := range p.search.All() {
			n += len(x.Lacked)
		}
	}
	return n
}

// Forget drops all that is remembered. It changes nothing but what the next steps cost.
func (pl *Planner) Forget() { pl.memos.grow(0, -1) }

// Remembers is how many bytes the planner counts of what it remembers.
func (pl *Planner) Remembers() int {
	pl.memos.mu.Lock()
	defer pl.memos.mu.Unlock()
	return pl.memos.size
}
