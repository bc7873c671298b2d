package xds

import (
	"fmt"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/metrics"
	"fairlead/internal/planner"
)

// handle takes in a request that passed check.
func (st *stream) handle(r *request) error {
	if st.att != nil && r.node != nil {
		if err := st.node.check(r.node); err != nil {
			return err
		}
	}
	t, served, err := st.check(r)
	switch {
	case err != nil:
		return err
	case !served:
		st.counts.Request(metrics.Other)
		return nil
	}
	st.counts.Request(t)
	first := !st.client.Subscribed(t)
	if st.delta {
		st.handleDelta(t, r, first)
	} else {
		st.handleSotW(t, r, first)
	}
	st.countNames(t)
	if n, most := st.client.Pending(t), 2*st.limit(t, st.att.Current()); n > most {
		return fmt.Errorf("%d names of %s wait for an answer, %d is the limit: answer what was sent: %w", n, t, most, fleet.ErrLimit)
	}
	return nil
}

// check refuses what no stream may ask for. served: the request is of a type that there is; else it is left unanswered.
func (st *stream) check(r *request) (t fleet.Type, served bool, err error) {
	if st.singleType && r.typeURL == "" {
		r.typeURL = st.only.URL() // "type_url ... is implicit in singleton xDS APIs such as CDS"
	}
	t, ok := fleet.TypeFromURL(r.typeURL)
	switch {
	case !ok && (st.singleType || r.typeURL == "" || oldAPI(r.typeURL)):
		return 0, false, unknownType(r.typeURL)
	case !ok, t == fleet.VirtualHost && !st.delta: // virtual hosts are served in the incremental protocol alone
		return 0, false, st.leaveUnanswered(r.typeURL)
	case st.singleType && t != st.only:
		return 0, false, fmt.Errorf("type_url %q is not served by %s, which is for %s alone: use the service of that type, or the aggregated one: %w", shortened(r.typeURL, maxTypeURL), st.protocol, st.only, fleet.ErrInvalid)
	}
	if err := st.checkRelayed(t); err != nil {
		return 0, false, err
	}
	if r.locators {
		return 0, false, fmt.Errorf("resource locators (xdstp) are not served: subscribe by name: %w", fleet.ErrInvalid)
	}
	return t, true, nil
}

var errNoType = fmt.Errorf("type_url is empty: an aggregated stream needs one in every request: %w", fleet.ErrInvalid)

func unknownType(url string) error {
	switch {
	case url == "":
		return errNoType
	case oldAPI(url):
		return fmt.Errorf("type_url %q is of xDS v2, which is gone: set resource_api_version and transport_api_version to V3: %w", shortened(url, maxTypeURL), fleet.ErrInvalid)
	}
	return fmt.Errorf("type_url %q is not served: %w", shortened(url, maxTypeURL), fleet.ErrInvalid)
}

// oldAPI reports whether a type is of xDS v2.
func oldAPI(url string) bool {
	return strings.Contains(url, "envoy.api.v2.") || strings.HasSuffix(url, ".v2.Runtime")
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
	target := st.att.Current()
	q, left := st.whole(t, r, first, target)
	st.pass(st.client.Request(st.now, q, target))
	st.said[t] = st.saidNow(t, r, left, target)
}

// handleDelta: the nonce decides what is answered, and changes of the subscription hold
// whatever it says (PROTOCOL rule 17).
func (st *stream) handleDelta(t fleet.Type, r *request, first bool) {
	if r.nonce != "" {
		st.answer(t, r)
	}
	if first || r.says() {
		st.pass(st.client.Request(st.now, st.admitted(t, r, first), st.att.Current()))
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
			st.counts.NACK(t)
			st.logRefused(t, r.detail)
		}
		st.pass(found)
		return
	}
	if f != nil {
		st.counts.ACK(t)
	}
	st.pass(st.client.Ack(st.now, t, r.nonce, r.detail))
}

// logRefused says that a response was refused, where that is worth a line. What each node refused is in its status.
func (st *stream) logRefused(t fleet.Type, detail string) {
	target := st.att.Current()
	if times, tell := st.srv.refusals.count(st.id.Key, t, target, st.now); tell {
		st.srv.log.With(st.about()...).With("node", st.node.node.ID).Warn("response refused", "type", t.Slug(), "detail", kept(t, detail), "revision", target.Revision, "times", times, st.srv.cfg.Traces.LogAttr(st.id.Key, target.Revision))
	}
}

// pass passes on what was found: what clients refuse is recorded before its repair is sent.
func (st *stream) pass(f planner.Findings) {
	for _, v := range f.Verdicts {
		v.Detail = kept(v.Type, v.Detail)
		st.noteNack(v)
		st.att.Refuse(st.ctx, v)
	}
	if len(f.Doubted) > 0 {
		st.att.Reconsider(f.Doubted)
	}
}
