package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const (
	goldenLease     = `{"id": "01936f5e-8c1b-7d2a-9f00-4a5b6c7d8e9f", "ttl": "30s", "keep_last": false, "expires_at": "2026-01-04T03:04:35Z"}`
	goldenEndpoints = `{"items": [{"address": "10.0.0.7:80", "locality": {"region": "eu", "zone": "a"}, "weight": 2, "health": "healthy", "lease": "01936f5e-8c1b-7d2a-9f00-4a5b6c7d8e9f", "expires_at": "2026-01-04T03:04:35Z", "updated_at": "2026-01-04T03:04:05Z", "updated_by": "shop"},
		{"address": "10.0.0.8:80", "weight": 1, "health": "draining", "updated_at": "2026-01-04T03:04:05Z", "updated_by": "ada"}]}`
	goldenEndpointsWritten = `{"set": 1, "removed": 0}`
	goldenLeaseLost        = "warning: 10.0.0.7:80 had a lease, and has none now: it stays if its program is killed, until \"fairlead endpoints rm\"\n"
	leasePath              = "/leases/01936f5e-8c1b-7d2a-9f00-4a5b6c7d8e9f"
)

func (w *world) endpointAPI() {
	w.on("POST", "/leases", reply{status: 201, body: goldenLease})
	w.on("POST", leasePath, ok(goldenLease))
	w.on("DELETE", leasePath, reply{status: 204})
	w.on("POST", "/endpoints/shop%2Fa", ok(goldenEndpointsWritten))
	w.on("GET", "/endpoints/shop%2Fa", ok(goldenEndpoints))
}

func TestEndpointsCommands(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	w.run("endpoints", "list", "shop/a").want(t, 0, "ADDRESS      LOCALITY  WEIGHT  HEALTH    EXPIRES               BY\n10.0.0.7:80  eu/a      2       healthy   2026-01-04 03:04:35Z  shop\n10.0.0.8:80  -         1       draining  -                     ada\n", "")
	w.run("endpoints", "set", "shop/a", "10.0.0.7:80", "--locality", "eu/a", "--weight", "2", "--metadata", `{"envoy.lb": {"v": "2"}}`).want(t, 0, "shop/a: 1 set, 0 removed\n", goldenLeaseLost)
	w.run("endpoints", "set", "shop/a", "10.0.0.8:80").want(t, 0, "shop/a: 1 set, 0 removed\n", "") // it has none
	w.on("POST", "/endpoints/shop%2Fa", ok(`{"set": 0, "removed": 2}`))
	w.run("endpoints", "rm", "shop/a", "10.0.0.7:80", "10.0.0.8:80").want(t, 0, "shop/a: 0 set, 2 removed\n", "")
	w.run("endpoints", "set", "shop/a", "10.0.0.7:80", "--locality", "a/b/c/d").want(t, 2, "", "fairlead: --locality: \"a/b/c/d\" has more parts than REGION/ZONE/SUB_ZONE\n")
	var bodies []string
	for _, s := range w.sent {
		if s.body != "" {
			bodies = append(bodies, s.body)
		}
	}
	want := []string{`{"set":[{"address":"10.0.0.7:80","health":"healthy","locality":{"region":"eu","zone":"a"},"metadata":{"envoy.lb":{"v":"2"}},"weight":2}]}`, `{"set":[{"address":"10.0.0.8:80","health":"healthy","weight":1}]}`, `{"remove":["10.0.0.7:80","10.0.0.8:80"]}`}
	if !slices.Equal(bodies, want) {
		t.Errorf("sent:\n%s", strings.Join(bodies, "\n"))
	}
}

// What is to be removed and is not there is told, and is a failure; what is there is removed all the same.
func TestEndpointsThatAreNotThere(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("POST", "/endpoints/shop", ok(`{"set": 0, "removed": 0}`))
	w.run("endpoints", "rm", "shop", "10.0.0.7:80").want(t, exitFailed, "shop: 0 set, 0 removed\n", "fairlead: shop has no endpoint 10.0.0.7:80\n")
	w.run("endpoints", "rm", "shop", "10.0.0.7:80", "--ignore-not-found").want(t, exitOK, "shop: 0 set, 0 removed\n", "")
	w.on("POST", "/endpoints/shop", ok(`{"set": 0, "removed": 1}`))
	w.run("endpoints", "rm", "shop", "10.0.0.7:80", "10.0.0.8:80").want(t, exitFailed, "shop: 0 set, 1 removed\n", "fairlead: not in shop: 1 of these 2 endpoints\n")
	if r := w.run("endpoints", "rm", "shop", "10.0.0.7:80", "10.0.0.8:80", "--json"); r.code != exitFailed || !strings.Contains(r.out, `"removed": 1`) {
		t.Errorf("%+v", r)
	}
}

const goldenEndpointsUnused = `{"set": 1, "removed": 0, "warnings": [{"parameter": "cluster", "code": "unreachable", "detail": "no cluster of the fleet asks for endpoints/shop/a"}]}`

// Endpoints that no cluster asks for are told of, and are no failure.
func TestEndpointsThatNoClusterAsksFor(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	w.on("POST", "/endpoints/shop%2Fa", ok(goldenEndpointsUnused))
	const warning = "warning: no cluster of the fleet asks for endpoints/shop/a\n"
	w.run("endpoints", "set", "shop/a", "10.0.0.8:80").want(t, 0, "shop/a: 1 set, 0 removed\n", warning)
	if r := w.run("endpoints", "set", "shop/a", "10.0.0.8:80", "--json"); r.code != 0 || r.err != warning || !strings.Contains(r.out, `"code": "unreachable"`) {
		t.Errorf("exit status %d, %q, %q", r.code, r.out, r.err)
	}
	if r := w.registers(t, 2); r.code != 0 || !strings.HasPrefix(r.err, warning+"10.0.0.7:80 is registered in shop/a\n") || strings.Count(r.err, warning) != 1 {
		t.Errorf("exit status %d: %s", r.code, r.err)
	}
}

// A registration is renewed at a third of its lease, is put anew under another lease when it has run out, drains when it is told to stop, and ends.
func TestRegister(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	w.on("POST", leasePath, ok(goldenLease), reply{drop: true}, reply{status: 404, body: `{"type": "about:blank", "title": "Not Found", "status": 404, "code": "not_found", "missing": "lease", "detail": "there is no lease", "request_id": "r"}`, header: map[string]string{"Content-Type": "application/problem+json"}}, ok(goldenLease))
	r := w.registers(t, 6, "--drain", "3s")
	if r.code != 0 {
		t.Errorf("exit status %d: %s", r.code, r.err)
	}
	if !strings.Contains(r.err, "10.0.0.7:80 is registered in shop/a\n") || !strings.Contains(r.err, "10.0.0.7:80 gets no new requests for 3s\n") || strings.Count(r.err, "is registered") != 2 {
		t.Errorf("it said:\n%s", r.err)
	}
	got := w.requests()
	want := []string{"POST /leases", "POST /endpoints/shop%2Fa", "POST " + leasePath}
	if !slices.Equal(got[:3], want) || !slices.Equal(got[len(got)-2:], []string{"POST /endpoints/shop%2Fa", "DELETE " + leasePath}) {
		t.Errorf("asked %q", got)
	}
	last := w.sent[len(w.sent)-2]
	if !strings.Contains(last.body, `"health":"draining"`) {
		t.Errorf("at the end it put %s", last.body)
	}
}

// registers runs the command and interrupts it at a pause.
func (w *world) registers(t *testing.T, pauses int, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	w.paused = func() {
		if n++; n == pauses {
			cancel()
		}
	}
	return w.runWith(ctx, append([]string{"endpoints", "register", "--cluster", "shop/a", "--address", "10.0.0.7:80", "--lease", "30s"}, args...)...)
}

// The program's end is that of the registration, with its status; it does not see the token.
func TestRegisterAProgram(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	registered := filepath.Join(w.dir, "registered") // the program waits for somebody who writes to it
	if err := syscall.Mkfifo(registered, 0o600); err != nil {
		t.Fatal(err)
	}
	w.on("POST", "/endpoints/shop%2Fa", reply{status: 200, body: goldenEndpointsWritten, first: func() {
		if err := os.WriteFile(registered, []byte("it runs\n"), 0o600); err != nil {
			t.Error(err)
		}
	}})
	r := w.bare("", "endpoints", "register", "--cluster", "shop/a", "--address", "10.0.0.7:80", "--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge", "--", "sh", "-c", "cat '"+registered+"'; exit 7")
	if r.code != 7 || r.out != "it runs\n" {
		t.Errorf("exit status %d, %q, %q", r.code, r.out, r.err)
	}
	if got := w.requests(); !slices.Equal(got, []string{"POST /leases", "POST /endpoints/shop%2Fa", "DELETE " + leasePath}) {
		t.Errorf("asked %q", got)
	}
	r = w.bare("", "endpoints", "register", "--cluster", "shop/a", "--address", "10.0.0.7:80", "--server", w.server.URL, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", "edge", "--", "no-such-program")
	r.want(t, 2, "", "fairlead: there is no program no-such-program\n")
	if env := withoutTokens([]string{"A=1", "FAIRLEAD_TOKEN=x", "FAIRLEAD_TOKEN_FILE=y", "FAIRLEAD_URL=z"}); !slices.Equal(env, []string{"A=1", "FAIRLEAD_URL=z"}) {
		t.Errorf("the program has %v", env)
	}
}

// What the API refuses once something is registered is told, and nothing that serves is ended for it.
func TestRegisterGoesOnWithoutItsToken(t *testing.T) {
	t.Parallel()
	for status, detail := range map[int]string{401: "the token has expired", 403: "the role viewer may not do this", 404: "there is no fleet"} {
		w := setup(t)
		w.endpointAPI()
		w.on("POST", leasePath, ok(goldenLease), problemReply(status, "x", detail))
		r := w.registers(t, 6)
		if r.code != 0 || strings.Count(r.err, "warning: ") != 1 || !strings.Contains(r.err, detail) {
			t.Errorf("%d: exit status %d: %s", status, r.code, r.err)
		}
		if renewed := strings.Count(strings.Join(w.requests(), "\n")+"\n", "POST "+leasePath+"\n"); renewed != 5 {
			t.Errorf("%d: the lease was renewed %d times", status, renewed)
		}
	}
}

// While it drains the lease is renewed as before.
func TestRegisterDrainsForLonger(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	r := w.registers(t, 1, "--drain", "1m")
	got := w.requests()
	if n := len(got); r.code != 0 || got[n-1] != "DELETE "+leasePath || strings.Count(strings.Join(got, "\n")+"\n", "POST "+leasePath+"\n") != 5 {
		t.Errorf("exit status %d, asked %q", r.code, got)
	}
}

// What the API refuses ends it; what may go right later does not.
func TestRegisterIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	w.on("POST", "/endpoints/shop%2Fa", problemReply(403, "forbidden", "the role viewer may not do this"))
	if r := w.registers(t, 3); r.code != 1 || !strings.Contains(r.err, "may not do this") {
		t.Errorf("exit status %d: %s", r.code, r.err)
	}
	for _, wrong := range [][]string{{"--lease", "1s"}, {"--lease", "25h"}, {"--lease", "5500ms"}, {"--drain", "2h"}} {
		if r := w.registers(t, 1, wrong...); r.code != 2 {
			t.Errorf("%v: exit status %d", wrong, r.code)
		}
	}
}
