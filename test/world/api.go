package world

import (
	"encoding/json"
	"strings"
	"testing"

	client "fairlead/clients/go"
)

// As is the API to who has this token.
func (w *World) As(token string) *client.ClientWithResponses {
	w.T.Helper()
	c, err := client.NewClientWithResponses(w.API, client.WithToken(token))
	Must(w.T, err)
	return c
}

// Answer is what the client returns of any request.
type Answer interface {
	StatusCode() int
	GetBody() []byte
}

// Made ends the test unless the API did what it was asked.
func (w *World) Made(a Answer, err error) {
	w.T.Helper()
	Must(w.T, err)
	if a.StatusCode() >= 300 {
		w.T.Fatalf("the API answered %d: %s", a.StatusCode(), a.GetBody())
	}
}

// Credential makes a node credential and returns its token and id.
func (w *World) Credential() (token, id string) {
	w.T.Helper()
	c, err := w.REST.CreateCredentialWithResponse(w.T.Context(), w.Tenant, w.Fleet, client.CredentialCreate{Nodes: "*"})
	w.Made(c, err)
	return c.JSON201.Token, c.JSON201.Credential.Id
}

// Apply makes one revision of a document {resources, delete}, YAML, and returns it. What the API
// asks to have confirmed is meant.
func (w *World) Apply(doc string) int64 {
	w.T.Helper()
	r, err := w.REST.ApplyWithBodyWithResponse(w.T.Context(), w.Tenant, w.Fleet, nil, "application/yaml", strings.NewReader(doc))
	if err == nil && r.ApplicationproblemJSON428 != nil {
		doc = strings.TrimSuffix(doc, "\n") + "\nconfirm: " + *r.ApplicationproblemJSON428.Token + "\n"
		r, err = w.REST.ApplyWithBodyWithResponse(w.T.Context(), w.Tenant, w.Fleet, nil, "application/yaml", strings.NewReader(doc))
	}
	w.Made(r, err)
	return r.JSON200.Revision
}

// Put writes resources, each a revision of its own, and returns the last one.
func (w *World) Put(resources ...Resource) (last int64) {
	w.T.Helper()
	for _, r := range resources {
		p, err := w.REST.PutResourceWithBodyWithResponse(w.T.Context(), w.Tenant, w.Fleet, client.TypeParam(r.Type), r.Name, nil,
			"application/yaml", strings.NewReader(r.Document()))
		Must(w.T, err)
		if p.StatusCode() >= 300 {
			w.T.Fatalf("put %s %s: %d %s", r.Type, r.Name, p.StatusCode(), p.Body)
		}
		last = RevisionOf(w.T, p.Body)
	}
	return last
}

// RevisionOf is the revision in an answer's body.
func RevisionOf(t testing.TB, body []byte) int64 {
	t.Helper()
	var v struct{ Revision int64 }
	Must(t, json.Unmarshal(body, &v))
	if v.Revision == 0 {
		t.Fatalf("no revision in %s", body)
	}
	return v.Revision
}

// Node is what the API tells of a node, nil if it knows none of that id.
func (w *World) Node(id string) *client.Node {
	w.T.Helper()
	n, err := w.REST.GetNodeWithResponse(w.T.Context(), w.Tenant, w.Fleet, id)
	Must(w.T, err)
	return n.JSON200
}

// AwaitLive waits until a node is known to be connected: it is told after its stream is
// served, and a receipt counts the nodes that are known when its revision is made.
func (w *World) AwaitLive(id string) {
	w.T.Helper()
	Eventually(w.T, Soon, "the API does not know node "+id, func() bool {
		n := w.Node(id)
		return n != nil && n.State == client.NodeStateLive
	})
}
