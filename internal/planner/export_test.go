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

// Remembers is how many bytes the planner counts of what it remembers.
func (pl *Planner) Remembers() int {
	pl.memos.mu.Lock()
	defer pl.memos.mu.Unlock()
	return pl.memos.size
}
