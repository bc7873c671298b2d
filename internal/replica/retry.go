package replica

import (
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/snapshot"
)

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
	defer func() { stamp(resolved, o.r.now()) }()
	o.retried++
	for _, id := range ids {
		n := o.nodes[id]
		if n == nil {
			continue
		}
		for _, e := range n.exceptions {
			resolved = append(resolved, fleet.Resolution{Node: n.id, Type: e.Type, Name: e.Name, Version: e.Refused, By: o.content.revision})
		}
		n.exceptions, n.ahead = nil, nil
		resolved = append(resolved, n.thaw(o.content.revision)...)
		n.retries++
		o.retarget(n)
		for a := range n.streams {
			signal(a.changed)
		}
	}
	return resolved
}

// stamp says of versions that are still in force when they were offered again.
func stamp(resolved []fleet.Resolution, at time.Time) {
	for i := range resolved {
		resolved[i].At = at
	}
}

// reconsider ends the exceptions that a client casts doubt on, of its node alone.
func (o *owner) reconsider(n *node, doubted []snapshot.Doubted) (resolved []fleet.Resolution) {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() { stamp(resolved, o.r.now()) }()
	by := o.content.revision
	n.exceptions = slices.DeleteFunc(n.exceptions, func(e snapshot.Exception) bool {
		out := slices.Contains(doubted, snapshot.Doubted{Type: e.Type, Name: e.Name, Version: e.Refused})
		if out {
			resolved = append(resolved, fleet.Resolution{Node: n.id, Type: e.Type, Name: e.Name, Version: e.Refused, By: by})
		}
		return out
	})
	if len(resolved) == 0 {
		return nil
	}
	resolved = append(resolved, n.thaw(by)...)
	o.retarget(n)
	for a := range n.streams {
		signal(a.changed)
	}
	return resolved
}
