package xds

import (
	"context"
	"fmt"
	"time"

	adminv3 "github.com/envoyproxy/go-control-plane/envoy/admin/v3"
	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"google.golang.org/protobuf/types/known/timestamppb"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// genericConfig is how one resource stands with a client.
type genericConfig = statusv3.ClientConfig_GenericXdsConfig

// inspectWithin is how long a stream may take to tell its state. It answers at once, but
// while it records a refusal.
const inspectWithin = 2 * time.Second

// inspection is a question to a stream; its owner answers.
type inspection struct {
	bare   bool            // without bodies
	answer chan []standing // capacity 1
}

// inspect asks a stream for its state; there is none if it ends meanwhile.
func (st *stream) inspect(ctx context.Context, bare bool) ([]standing, error) {
	q := inspection{bare: bare, answer: make(chan []standing, 1)}
	late := fmt.Errorf("a stream did not tell its state within %s: ask again: %w", inspectWithin, fleet.ErrUnavailable)
	select {
	case st.inspections <- q:
		st.bell.Ring()
	case <-st.ended:
		return nil, nil
	case <-ctx.Done():
		return nil, late
	}
	select {
	case told := <-q.answer:
		return told, nil
	case <-st.ended: // by a panic
		return nil, nil
	case <-ctx.Done():
		return nil, late
	}
}

// answerInspection answers one, if there is one. Another one rings anew.
func (st *stream) answerInspection() {
	select {
	case q := <-st.inspections:
		q.answer <- st.tell(q.bare)
	default:
	}
}

// standing is how one resource stands with a client. It shares its body with the fleet:
// a stream's owner only points, and whoever asked decodes.
type standing struct {
	planner.Holding
	t       fleet.Type
	known   bool // there is a Holding
	at      time.Time
	refusal *fleet.Refusal // nil if none
}

// tell is the stream's state. Of a Secret the body is never told.
func (st *stream) tell(bare bool) []standing {
	var out []standing
	target := st.att.Current()
	for _, t := range fleet.Types() {
		st.forgetDeleted(t, target)
		holdings, at := st.client.Holdings(t, target)
		seen := map[string]bool{}
		for _, h := range holdings {
			s := standing{Holding: h, t: t, known: true, at: at}
			if bare || t == fleet.Secret {
				s.Encoded = nil
			}
			if n, ok := st.nacks[t][h.Name]; ok {
				s.refusal = &n
			}
			seen[h.Name] = true
			out = append(out, s)
		}
		for name, n := range st.nacks[t] {
			if !seen[name] {
				out = append(out, standing{Holding: planner.Holding{Name: name}, t: t, refusal: &n})
			}
		}
	}
	return out
}

var statuses = map[planner.Standing]statusv3.ConfigStatus{
	planner.Unsent:     statusv3.ConfigStatus_NOT_SENT,
	planner.Unanswered: statusv3.ConfigStatus_STALE,
	planner.Confirmed:  statusv3.ConfigStatus_SYNCED,
}

// config is the standing without the body.
func (s standing) config() *genericConfig {
	c := &genericConfig{TypeUrl: s.t.URL(), Name: s.Name, VersionInfo: s.Version}
	if s.known {
		c.ConfigStatus = statuses[s.Standing]
		if !s.at.IsZero() {
			c.LastUpdated = timestamppb.New(s.at)
		}
	}
	if s.refusal != nil {
		c.ConfigStatus = statusv3.ConfigStatus_ERROR
		c.ErrorState = &adminv3.UpdateFailureState{Details: s.refusal.Detail, VersionInfo: s.refusal.Version, LastUpdateAttempt: timestamppb.New(s.refusal.At)}
	}
	return c
}

// maxNacks is how many refused names of a type a stream remembers for its status.
const maxNacks = 100

// noteNack remembers what the client refused, until another version of the name is offered or the fleet has the name no more.
func (st *stream) noteNack(v snapshot.Verdict) {
	if st.nacks[v.Type] == nil {
		st.nacks[v.Type] = make(map[string]fleet.Refusal)
	}
	notes := st.nacks[v.Type]
	for _, c := range v.Blame {
		if len(notes) == maxNacks {
			return
		}
		f := fleet.Refusal{Type: v.Type, Name: c.Refused.Name, Version: c.Refused.Version, Detail: v.Detail, At: st.now}
		if c.Good != nil {
			f.Good = c.Good.Version
		}
		notes[f.Name] = f
	}
}

// noteOffer forgets refusals of names of which another version goes out now.
func (st *stream) noteOffer(r *planner.Response) {
	notes := st.nacks[r.Type]
	if len(notes) == 0 || r.Heartbeat {
		return
	}
	st.forgetDeleted(r.Type, st.att.Current())
	for _, x := range r.Resources {
		if n, ok := notes[x.Name]; ok && x.Version != n.Good && x.Version != n.Version {
			delete(notes, x.Name)
		}
	}
}

// forgetDeleted forgets refusals of names that the fleet deleted. A name that is missing
// because this node refused it stays refused.
func (st *stream) forgetDeleted(t fleet.Type, target *snapshot.Target) {
	for name := range st.nacks[t] {
		if target.Types[t].Get(name) == nil && !target.Withholds(fleet.Ref{Type: t, Name: name}) {
			delete(st.nacks[t], name)
		}
	}
}
