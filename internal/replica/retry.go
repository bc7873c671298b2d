package replica

import "fairlead/internal/fleet"

// retry offers nodes again what they refused: their exceptions end, and their streams
// forget which contents they refused (SEMANTICS 3.6). The database has it from whoever
// asked for the retry; told again, it ends what was refused in between too.
func (o *owner) retry(ids []string) {
	if len(ids) == 0 {
		return
	}
	o.r.cfg.Recorder.Resolved(o.key, o.offerAgain(ids))
}

func (o *owner) offerAgain(ids []string) (resolved []fleet.Resolution) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.retried++
	for _, id := range ids {
		n := o.nodes[id]
		if n == nil {
			continue
		}
		for _, e := range n.exceptions {
			resolved = append(resolved, fleet.Resolution{Node: n.id, Type: e.Type, Name: e.Name, Version: e.Refused, By: o.content.revision})
		}
		n.exceptions = nil
		resolved = append(resolved, n.thaw(o.content.revision)...)
		n.retries++
		o.retarget(n)
		for a := range n.streams {
			signal(a.changed)
		}
	}
	return resolved
}
