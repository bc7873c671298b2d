package xds

import (
	"fmt"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
	"fairlead/internal/snapshot"
)

// admit says how many names the next requests may hold: the reader counts them before it is
// known of which type they are. The fleet's size is that of the target, which nobody can be
// ahead of.
func (st *stream) admit(target *snapshot.Target) {
	if target == st.admitted {
		return
	}
	st.admitted = target
	most := 0
	for _, s := range target.Types {
		most = max(most, s.Len())
	}
	st.names.Store(int64(st.srv.cfg.Limits.reported(most)))
}

// reported is how many names of a type a client may report or drop, of which the fleet has
// so many: also what the fleet has lost meanwhile, but not without end.
func (l Limits) reported(has int) int { return 2*has + l.Names }

// unknown is how many names a stream's first request may hold, while the size of its fleet is
// not known: more than a client that returns has where a name and its version take 32 bytes.
func (l Limits) unknown() int { return max(l.Names, l.Message/32) }

// handle takes in a request that passed check.
func (st *stream) handle(r *request) error {
	if st.att != nil && r.node != nil {
		if err := st.node.check(r.node); err != nil {
			return err
		}
	}
	if err := st.check(r); err != nil {
		return err
	}
	t, _ := fleet.TypeFromURL(r.typeURL)
	// A client may ask for all that there is, whatever the limit.
	limit := max(st.srv.cfg.Limits.Names, st.att.Current().Types[t].Len())
	most := st.srv.cfg.Limits.reported(st.att.Current().Types[t].Len())
	if r.versions.len() > most || r.dropped.len() > most {
		return fmt.Errorf("the request names %d versions and drops %d names of %s, %d is the limit: %w", r.versions.len(), r.dropped.len(), t, most, fleet.ErrLimit)
	}
	if n := r.names.len(); n > most {
		return fmt.Errorf("the stream subscribes to %d %s, %d names is the limit of a stream: %w", n, t, limit, fleet.ErrLimit)
	}
	first := !st.client.Subscribed(t)
	if st.delta {
		st.handleDelta(t, r, first)
	} else {
		st.handleSotW(t, r, first)
	}
	if n := st.client.Subscription(t).Len(); n > limit {
		return fmt.Errorf("the stream subscribes to %d %s, %d names is the limit of a stream, and more than the fleet has: subscribe to what there is: %w", n, t, limit, fleet.ErrLimit)
	}
	if n := st.client.Pending(t); n > most {
		return fmt.Errorf("%d names of %s wait for an answer, %d is the limit: answer what was sent: %w", n, t, most, fleet.ErrLimit)
	}
	if n := st.client.NameBytes(); n > max(maxNameBytes, 128*limit) {
		return fmt.Errorf("the names that the stream subscribes to take %d bytes, %d is the limit of a stream: %w", n, maxNameBytes, fleet.ErrLimit)
	}
	return nil
}

// maxNameBytes is the most that the names of a stream's subscriptions may take.
const maxNameBytes = 4 << 20

// check refuses what no stream may ask for.
func (st *stream) check(r *request) error {
	if st.singleType && r.typeURL == "" {
		r.typeURL = st.only.URL() // "type_url ... is implicit in singleton xDS APIs such as CDS"
	}
	t, ok := fleet.TypeFromURL(r.typeURL)
	switch {
	case !ok:
		return unknownType(r.typeURL)
	case st.singleType && t != st.only:
		return fmt.Errorf("type_url %q is not served by %s, which is for %s alone: use the service of that type, or the aggregated one: %w", r.typeURL, st.protocol, st.only, fleet.ErrInvalid)
	case t == fleet.VirtualHost && !st.delta:
		return fmt.Errorf("virtual hosts are served in the incremental protocol alone: set api_type to DELTA_GRPC: %w", fleet.ErrInvalid)
	}
	if err := st.checkRelayed(t); err != nil {
		return err
	}
	if r.locators {
		return fmt.Errorf("resource locators (xdstp) are not served: subscribe by name: %w", fleet.ErrInvalid)
	}
	return nil
}

func unknownType(url string) error {
	switch {
	case url == "":
		return fmt.Errorf("type_url is empty: an aggregated stream needs one in every request: %w", fleet.ErrInvalid)
	case strings.Contains(url, "envoy.api.v2.") || strings.HasSuffix(url, ".v2.Runtime"):
		return fmt.Errorf("type_url %q is of xDS v2, which is gone: set resource_api_version and transport_api_version to V3: %w", url, fleet.ErrInvalid)
	}
	if len(url) > 128 {
		url = url[:128]
	}
	return fmt.Errorf("type_url %q is not served: %w", url, fleet.ErrInvalid)
}

// handleSotW: "a request whose nonce is not the last one sent is stale" and says
// nothing; all others carry the whole list of names (PROTOCOL rules 7 and 17). The first
// one of a type may answer what went out unasked, and a nonce of a stream before is no answer.
func (st *stream) handleSotW(t fleet.Type, r *request, first bool) {
	if current := r.nonce == st.nonces[t]; !first || current && r.nonce != "" {
		st.answer(t, r)
		if !current {
			return
		}
	}
	st.pass(st.client.Request(st.now, r.subscription(t), st.att.Current()))
}

// handleDelta: the nonce decides what is answered, and changes of the subscription hold
// whatever it says (PROTOCOL rule 17).
func (st *stream) handleDelta(t fleet.Type, r *request, first bool) {
	if r.nonce != "" {
		st.answer(t, r)
	}
	if q := r.subscription(t); first || q.Says() {
		st.pass(st.client.Request(st.now, q, st.att.Current()))
	}
}

// answer takes in what a request says of the response whose nonce it carries, be it the
// last one or one that was overtaken: a late answer is recorded against what that one
// carried (PROTOCOL rule 15). In state of the world an Envoy's error_detail beside the
// version of that very response is about an older one, and the request is an ACK (rule
// 16); gRPC's clients mean that they took the rest of it, and the request is a NACK.
func (st *stream) answer(t fleet.Type, r *request) {
	f := st.client.Answerable(t, r.nonce)
	r.detail = st.words(t, f, r.detail)
	if r.nack && (st.delta || !st.client.Kind().Envoy || f == nil || r.version != f.Version.String()) {
		found, counts := st.client.Nack(st.now, t, r.nonce, r.detail)
		if counts {
			st.logRefused(t, r.detail)
		}
		st.pass(found)
		return
	}
	st.pass(st.client.Ack(st.now, t, r.nonce, r.detail))
}

// logRefused says that a response was refused, where that is worth a line. What each node refused is in its status.
func (st *stream) logRefused(t fleet.Type, detail string) {
	target := st.att.Current()
	if times, tell := st.srv.refusals.count(st.id.Key, t, target, st.now); tell {
		st.log.Warn("response refused", "type", t.Slug(), "detail", kept(t, detail), "revision", target.Revision, "times", times)
	}
}

// pass passes on what was found: what clients refuse is recorded before its repair is sent.
func (st *stream) pass(f planner.Findings) {
	for _, v := range f.Verdicts {
		detail := kept(v.Type, v.Words)
		st.noteNack(v.Type, detail, v.Blame)
		st.att.Refuse(st.ctx, Refusal{Type: v.Type, Detail: detail, Blame: v.Blame, Presumed: v.Presumed})
	}
	if len(f.Doubted) > 0 {
		st.att.Reconsider(f.Doubted)
	}
}
