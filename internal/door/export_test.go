package door

// Remembered is how many addresses something is remembered of.
func (d *Door) Remembered() int { return len(d.struck) + len(d.calls.of) + len(d.failures.of) }
