package run

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
	"fairlead/internal/forward"
	"fairlead/internal/metrics"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

var webhookSecret = []byte("0123456789abcdef0123456789abcdef")

// auditReceiver is a collector that does with each delivery what the next script says: nothing more of it is kept then.
type auditReceiver struct {
	*httptest.Server

	mu     sync.Mutex // guards all below
	script []func(http.ResponseWriter)
	seqs   []int64
	heads  []audit.Head
	links  []audit.Link
}

func newReceiver(t *testing.T) *auditReceiver {
	t.Helper()
	c := &auditReceiver{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Webhook-Signature") != forward.Signature(webhookSecret, r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Timestamp"), body) {
			t.Error("a bad signature")
		}
		var b forward.Batch
		if err := json.Unmarshal(body, &b); err != nil {
			t.Error(err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, l := range b.Events {
			c.seqs, c.links = append(c.seqs, l.Seq), append(c.links, l)
		}
		c.heads = append(c.heads, b.Heads...)
		if len(c.script) > 0 {
			f := c.script[0]
			c.script = c.script[1:]
			f(w)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// firsts are the numbers without those that came again.
func (c *auditReceiver) firsts() (out []int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.seqs {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func forwarderTo(t *testing.T, s *store.Store, c *auditReceiver, log io.Writer) *forwarder {
	t.Helper()
	w, err := forward.NewWebhook(forward.WebhookConfig{URL: c.URL, Secret: webhookSecret})
	if err != nil {
		t.Fatal(err)
	}
	return newForwarder(s, w, slog.New(slog.NewTextHandler(log, nil)), metrics.Discard().Audit)
}

func upTo(n int64) (out []int64) {
	for i := range n {
		out = append(out, i+1)
	}
	return out
}

// again makes the pause after a failure over.
func again(t *testing.T, db *storetest.DB, f *forwarder) {
	t.Helper()
	db.Exec(t, `UPDATE audit_deliveries SET claimed_until = NULL`)
	f.next = f.next.Add(-pauseMost)
}

// A collector that is slow, away or broken gets every event all the same, in the order of the chain, and the heads; and can verify what it got.
func TestT48_NoEventIsLostOnTheWayToACollector(t *testing.T) {
	t.Parallel()
	db, s, tenant := audited(t)
	c := newReceiver(t)
	var log strings.Builder
	f := forwarderTo(t, s, c, &log)
	elsewhere := newReceiver(t)
	for _, bad := range []func(http.ResponseWriter){
		func(w http.ResponseWriter) { w.WriteHeader(500) },
		func(w http.ResponseWriter) { w.Header().Set("Location", elsewhere.URL); w.WriteHeader(307) },
		func(w http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		c.script = append(c.script, bad)
		if !f.once(t.Context()) {
			t.Error("it is said to be taken")
		}
		if f.once(t.Context()) {
			t.Error("it is tried again at once")
		}
		again(t, db, f)
	}
	if f.pause != 4e9 || f.failing[tenant].pause != 4e9 {
		t.Errorf("the pauses are %v and %+v", f.pause, f.failing[tenant])
	}
	if n := len(elsewhere.seqs); n > 0 {
		t.Errorf("%d events went elsewhere", n)
	}
	if _, _, err := s.SignAudit(t.Context(), tenant, audit.NewSigner([]byte("x")), func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	writeEvents(t, s, tenant, 250) // several batches
	if f.once(t.Context()) || f.pause != 0 {
		t.Error(log.String())
	}
	if got := c.firsts(); !slices.Equal(got, upTo(254)) {
		t.Errorf("%v", got)
	}
	if len(c.heads) != 1 || c.heads[0].Seq != 4 {
		t.Errorf("%+v", c.heads)
	}
	chain := audit.NewChain(tenant.String(), audit.Anchor{})
	chain.Expect(c.heads...)
	for _, l := range c.links {
		if l.Seq <= chain.Seq() {
			continue
		}
		if fault := chain.Add(l); fault != nil {
			t.Fatal(fault)
		}
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "delivered again") || strings.Contains(log.String(), c.URL) {
		t.Error(log.String())
	}
	if n := len(c.seqs); f.once(t.Context()) || len(c.seqs) != n {
		t.Error("it is sent again")
	}
}

// forgetful dies before it can say that a batch was taken.
type forgetful struct {
	*store.Store
	after int
}

var errDies = errors.New("dies")

func (d *forgetful) Delivered(ctx context.Context, t fleet.TenantID, x store.AuditDelivery, holder fleet.ServerID) (bool, error) {
	if d.after--; d.after < 0 {
		return false, errDies
	}
	return d.Store.Delivered(ctx, t, x, holder)
}

func (d *forgetful) ReleaseDelivery(context.Context, fleet.TenantID, string, fleet.ServerID, time.Duration) error {
	return errDies
}

// A server that dies in between leaves its claim, which ends a minute later: then another one goes on, and sends what was not said to be taken again.
func TestT48_AServerThatDiesLosesNoEvent(t *testing.T) {
	t.Parallel()
	db, s, tenant := audited(t)
	writeEvents(t, s, tenant, 300)
	c := newReceiver(t)
	dying := forwarderTo(t, s, c, io.Discard)
	dying.store = &forgetful{s, 1}
	dying.once(t.Context())
	other := forwarderTo(t, s, c, io.Discard)
	if n := len(c.seqs); n != 200 || other.once(t.Context()) || len(c.seqs) != n {
		t.Errorf("%d events, then %d: two servers are at it", n, len(c.seqs))
	}
	if d, err := s.ClaimDelivery(t.Context(), tenant, other.sink.Name(), other.holder); err != nil || d != nil {
		t.Errorf("what another server has is claimed: %+v, %v", d, err)
	}
	again(t, db, other)
	if other.once(t.Context()) {
		t.Error("it failed")
	}
	if got := c.firsts(); !slices.Equal(got, upTo(304)) || len(c.seqs) != 404 {
		t.Errorf("%d events of %v", len(c.seqs), got)
	}
}

// What retention removes before a collector had it is an error in the log; what was removed before there was a collector is not.
func TestT48_WhatRetentionTookFromACollectorIsTold(t *testing.T) {
	t.Parallel()
	db, s, tenant := audited(t)
	c := newReceiver(t)
	var log strings.Builder
	f := forwarderTo(t, s, c, &log)
	old := func() {
		db.Exec(t, `SET session_replication_role = replica; UPDATE audit_events SET at = at - interval '500 days'; RESET session_replication_role`)
		if _, err := s.CompactDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	old()
	writeEvents(t, s, tenant, 1)
	if f.once(t.Context()); len(c.seqs) != 1 || c.seqs[0] != 5 || strings.Contains(log.String(), "ERROR") {
		t.Errorf("%v: %s", c.seqs, log.String())
	}
	writeEvents(t, s, tenant, 2)
	old()
	writeEvents(t, s, tenant, 1)
	again(t, db, f)
	if f.once(t.Context()); !slices.Equal(c.seqs, []int64{5, 8}) || !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "events=2") {
		t.Errorf("%v: %s", c.seqs, log.String())
	}
}

func TestT21_CollectorsAreAskedForInFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n", 0o600)
	for name, c := range map[string]struct {
		c    AuditCollectors
		n    int
		says string
	}{
		"none":          {AuditCollectors{}, 0, ""},
		"both":          {AuditCollectors{AuditWebhook: "https://c", AuditWebhookKeyFile: good, AuditSyslog: "tcp+tls://c:6514"}, 2, ""},
		"no key":        {AuditCollectors{AuditWebhook: "https://c"}, 0, "openssl rand"},
		"no address":    {AuditCollectors{AuditWebhookKeyFile: good}, 0, "--audit-webhook"},
		"an open key":   {AuditCollectors{AuditWebhook: "https://c", AuditWebhookKeyFile: file("open", "x", 0o644)}, 0, "chmod 600"},
		"a short key":   {AuditCollectors{AuditWebhook: "https://c", AuditWebhookKeyFile: file("short", "MTIz", 0o600)}, 0, "needs 24"},
		"no base64":     {AuditCollectors{AuditWebhook: "https://c", AuditWebhookKeyFile: file("plain", "a secret", 0o600)}, 0, "base64"},
		"plaintext":     {AuditCollectors{AuditWebhook: "http://c", AuditWebhookKeyFile: good}, 0, "https://"},
		"no file":       {AuditCollectors{AuditWebhook: "https://c", AuditWebhookKeyFile: dir + "/none"}, 0, "no such file"},
		"syslog by UDP": {AuditCollectors{AuditSyslog: "udp://c:514"}, 0, "tcp+tls://"},
	} {
		sinks, err := c.c.sinks()
		if len(sinks) != c.n || (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d, %v", name, len(sinks), err)
		}
	}
}

// refuser is a collector that takes nothing of some tenants, as one behind a filter does, and notes of whom it has something.
type refuser struct {
	refuses map[string]bool
	got     []string
	more    func() // is done in each delivery
}

func (*refuser) Name() string { return "webhook" }

func (r *refuser) Send(_ context.Context, b forward.Batch) error {
	if r.refuses[b.TenantID] {
		return fleet.ErrUnavailable
	}
	r.got = append(r.got, b.TenantID)
	if r.more != nil {
		r.more()
	}
	return nil
}

func withSink(t *testing.T, s *store.Store, to sink) *forwarder {
	t.Helper()
	return newForwarder(s, to, slog.New(slog.DiscardHandler), metrics.Discard().Audit)
}

// Tenants whose batches the collector refuses hold up no other's, however many they are: who was tried is behind who was not.
func TestT48_WhatIsRefusedOfSomeHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	db, s, tenant := audited(t)
	ids := []string{tenant.String()}
	for range forwardMost {
		more := db.Tenant(t)
		writeEvents(t, s, more, 1)
		ids = append(ids, more.String())
	}
	slices.Sort(ids) // as they come where none was tried
	to := &refuser{refuses: map[string]bool{}}
	for _, id := range ids[:forwardMost] {
		to.refuses[id] = true
	}
	f := withSink(t, s, to)
	for range 2 {
		f.once(t.Context())
		db.Exec(t, `UPDATE audit_deliveries SET claimed_until = claimed_until - interval '1 hour'`)
		f.next = f.next.Add(-pauseMost)
	}
	if len(to.got) == 0 {
		t.Error("the collector got nothing of the tenant that it refuses nothing of")
	}
}

// What fails of one tenant is its own: others are not told to be delivered again, nor wait for its pause, and it becomes an error when it lasts.
func TestT48_WhatFailsOfOneTenantIsItsOwn(t *testing.T) {
	t.Parallel()
	db, s, refused := audited(t)
	other := db.Tenant(t)
	to := &refuser{refuses: map[string]bool{refused.String(): true}}
	var log strings.Builder
	f := newForwarder(s, to, slog.New(slog.NewTextHandler(&log, nil)), metrics.Discard().Audit)
	for n := range 3 {
		writeEvents(t, s, other, 1)
		f.once(t.Context())
		if got := len(to.got); got != n+1 {
			t.Fatalf("%d deliveries of the other tenant, want %d: %s", got, n+1, log.String())
		}
	}
	again(t, db, f)
	f.once(t.Context())
	if f.failing[refused].pause != 2*time.Second || strings.Contains(log.String(), "delivered again") || strings.Contains(log.String(), "ERROR") {
		t.Errorf("%+v: %s", f.failing, log.String())
	}
	again(t, db, f)
	f.failing[refused].since = f.failing[refused].since.Add(-2 * lateAfter)
	if f.once(t.Context()); strings.Count(log.String(), "level=ERROR") != 1 {
		t.Errorf("what lasts is no error: %s", log.String())
	}
	to.refuses = nil
	again(t, db, f)
	if f.once(t.Context()); strings.Count(log.String(), "delivered again") != 1 || len(f.failing) != 0 {
		t.Errorf("%+v: %s", f.failing, log.String())
	}
}

// One tenant that does things all the time has its turn as others have, and no more.
func TestT48_ABusyTenantHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	_, s, busy := audited(t)
	to := &refuser{}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	to.more = func() {
		if len(to.got) > forwardTurn {
			stop() // it would go on for ever
			return
		}
		writeEvents(t, s, busy, 1)
	}
	f := withSink(t, s, to)
	if f.once(ctx); len(to.got) != forwardTurn {
		t.Errorf("%d deliveries in one turn", len(to.got))
	}
}

// A tenant of which retention has taken all has nothing that is to be delivered: it is told once, and is not claimed again.
func TestT48_WhereNothingIsLeftNothingIsTried(t *testing.T) {
	t.Parallel()
	db, s, tenant := audited(t)
	c := newReceiver(t)
	var log strings.Builder
	f := forwarderTo(t, s, c, &log)
	f.once(t.Context())
	writeEvents(t, s, tenant, 2)
	db.Exec(t, `SET session_replication_role = replica; UPDATE audit_events SET at = at - interval '500 days'; RESET session_replication_role`)
	if _, err := s.CompactDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		f.once(t.Context())
	}
	us, err := s.Undelivered(t.Context(), "webhook", 10)
	if err != nil || len(us) != 0 {
		t.Errorf("%v, %v", us, err)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "events=2") {
		t.Errorf("told %d times: %s", n, log.String())
	}
}
