package e2e

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

// soon is how long anything may take that takes milliseconds: a wait of Envoy's 15 s is
// always a defect.
const soon = 5 * time.Second

// atOnce is how long it may take when nothing has to be waited for but processes that
// share two cores.
const atOnce = time.Second

// promptly waits until it holds, and fails when that took longer than atOnce.
func promptly(t testing.TB, what string, holds func() bool) {
	t.Helper()
	took := eventually(t, soon, "not "+what, holds)
	t.Logf("%s after %s", what, took.Round(time.Millisecond))
	if took > atOnce {
		t.Errorf("%s after %s, want at once", what, took)
	}
}

// get returns the status and the body, 0 if there was no answer.
func get(url string) (int, string) { return ask(url, func(*http.Request) {}) }

// ask is get with a request that is changed before it is sent.
func ask(url string, change func(*http.Request)) (int, string) {
	c := http.Client{Timeout: soon}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	change(r)
	resp, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close() //nolint:errcheck // it has been read
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// eventually looks until it holds, and fails when it took too long.
func eventually(t testing.TB, within time.Duration, otherwise string, holds func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Since(start) > within {
			t.Fatalf("%s within %s", otherwise, within)
		}
		<-tick.C
	}
	return time.Since(start)
}
