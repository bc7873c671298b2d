package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// patience is how long a writer waits for an answer.
const patience = 3 * time.Second

// past is a version that a name had.
type past struct{ number, revision int64 }

// writer is who alone writes some names of a tenant's fleet, one write after the other.
type writer struct {
	tenant, fleet string
	apis          []*client.ClientWithResponses
	names         []string
	rng           *rand.Rand
	h             *history
	pause         time.Duration // between two writes
	backends      [2]string     // to whom clusters lead, by their number

	numbers map[string]int64 // of the last write of each
	there   map[string]bool  // as far as it knows
	past    map[string][]past
}

// run writes until ctx ends.
func (w *writer) run(ctx context.Context) {
	w.numbers, w.there, w.past = map[string]int64{}, map[string]bool{}, map[string][]past{}
	for {
		name := w.names[w.rng.IntN(len(w.names))]
		switch n := w.rng.IntN(20); {
		case n < 2 && w.there[name]:
			w.remove(ctx, name)
		case n < 4 && len(w.past[name]) > 1:
			w.rollback(ctx, name, w.past[name][w.rng.IntN(len(w.past[name]))])
		default:
			w.numbers[name]++
			w.put(ctx, name)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(w.pause/2 + time.Duration(w.rng.Int64N(int64(w.pause)))):
		}
	}
}

// settle writes each name once more, until that is acknowledged: what no answer came of does not matter from then on.
func (w *writer) settle(ctx context.Context) {
	for _, name := range w.names {
		w.numbers[name] += 3 - w.numbers[name]%3
		for !w.put(ctx, name) && ctx.Err() == nil {
			w.numbers[name] += 3
		}
	}
}

func (w *writer) put(ctx context.Context, name string) bool {
	c := content{w.tenant, name, w.numbers[name]}
	doc := w.document(c)
	done, revision := w.try(ctx, write{content: c}, func(ctx context.Context, api *client.ClientWithResponses, message, key string) (answer, *client.WriteResult, error) {
		r, err := api.PutResourceWithBodyWithResponse(ctx, w.tenant, w.fleet, "clusters", name, &client.PutResourceParams{Message: &message, IdempotencyKey: &key}, "application/yaml", strings.NewReader(doc))
		if err != nil {
			return nil, nil, err
		}
		if r.JSON201 != nil {
			return r, r.JSON201, nil
		}
		return r, r.JSON200, nil
	})
	w.there[name] = true
	if done {
		w.past[name] = append(w.past[name], past{c.Number, revision})
		w.past[name] = w.past[name][max(0, len(w.past[name])-5):]
	}
	return done
}

// document is a cluster that is there and has its mark. Of what some are to refuse an Envoy refuses it too.
func (w *writer) document(c content) string {
	refused := ""
	if refusable(c) {
		refused = `, transport_socket: {name: tls, typed_config: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext,
			common_tls_context: {validation_context: {trusted_ca: {filename: /no/such/file}}}}}`
	}
	body := fmt.Sprintf("{name: %q, type: STATIC, connect_timeout: 60s, alt_stat_name: %q, load_assignment: {cluster_name: %q, endpoints: [{lb_endpoints: [{endpoint: {address: %s}}]}]}%s}",
		c.Name, c.mark(), c.Name, world.Socket(w.backends[c.Number%2]), refused)
	return world.NewResource("clusters", c.Name, body).Document()
}

func (w *writer) remove(ctx context.Context, name string) {
	w.try(ctx, write{content: content{w.tenant, name, 0}}, func(ctx context.Context, api *client.ClientWithResponses, message, key string) (answer, *client.WriteResult, error) {
		r, err := api.DeleteResourceWithResponse(ctx, w.tenant, w.fleet, "clusters", name, &client.DeleteResourceParams{Message: &message, IdempotencyKey: &key})
		if err != nil {
			return nil, nil, err
		}
		return r, r.JSON200, nil
	})
	w.there[name] = false
}

func (w *writer) rollback(ctx context.Context, name string, to past) {
	w.try(ctx, write{content: content{w.tenant, name, to.number}, Rollback: true}, func(ctx context.Context, api *client.ClientWithResponses, message, key string) (answer, *client.WriteResult, error) {
		r, err := api.RollbackWithResponse(ctx, w.tenant, w.fleet, &client.RollbackParams{IdempotencyKey: &key},
			client.RollbackRequest{Revision: to.revision, Message: &message, Resources: &[]client.VariantRef{{Type: "clusters", Name: name}}})
		if err != nil {
			return nil, nil, err
		}
		return r, r.JSON200, nil
	})
	w.there[name] = true
}

// answer is what the client returns of any request.
type answer interface {
	StatusCode() int
	GetBody() []byte
}

// codeOf is the code of a problem.
func codeOf(body []byte) string {
	var p struct{ Code string }
	_ = json.Unmarshal(body, &p) // what is no problem has none
	return p.Code
}

// try makes a write and notes what became of it. Where no answer comes it mostly asks again, with the same key, at the other server.
func (w *writer) try(ctx context.Context, note write, do func(context.Context, *client.ClientWithResponses, string, string) (answer, *client.WriteResult, error)) (done bool, revision int64) {
	message, key := strconv.FormatInt(note.Number, 10), uuid.NewString()
	note.Began = w.h.now()
	note.Outcome = ambiguous
	at, full := w.rng.IntN(len(w.apis)), true
	for tries := 1 + w.rng.IntN(4); tries > 0 && note.Outcome == ambiguous; tries-- {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		a, result, err := do(asking, w.apis[at%len(w.apis)], message, key)
		cancel()
		at++
		full = full && err == nil && codeOf(a.GetBody()) == "database_full"
		switch {
		case err != nil || a.StatusCode() >= http.StatusInternalServerError || a.StatusCode() == http.StatusTooManyRequests:
		case result == nil:
			note.Outcome = refused
			w.h.say("%s was refused: %d", note.mark(), a.StatusCode())
		case result.Changed == 0:
			note.Outcome = unchanged
		default:
			note.Outcome, note.Revision = acknowledged, result.Revision
		}
	}
	if full { // and nothing was done
		note.Outcome = refused
		w.h.say("%s was refused: the disk is full", note.mark())
	}
	w.h.wrote(note)
	return note.Outcome == acknowledged, note.Revision
}
