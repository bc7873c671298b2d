package world

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"
)

// Soon is how long anything may take that takes milliseconds: a wait of Envoy's 15 s is
// always a defect.
const Soon = 5 * time.Second

// oneLook is what a look that takes longer counts for: the processors are others' then.
const oneLook = 250 * time.Millisecond

// Eventually looks until it holds, and ends the test when that takes too long. It returns
// how long it took.
func Eventually(t testing.TB, within time.Duration, otherwise string, holds func() bool) (took time.Duration) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		start := time.Now()
		held := holds()
		took += min(time.Since(start), oneLook)
		if held {
			return took
		}
		if took > within {
			t.Fatalf("%s within %s", otherwise, within)
		}
		start = time.Now()
		<-tick.C
		took += min(time.Since(start), oneLook)
	}
}

// AwaitOK waits until an URL is answered by 200.
func AwaitOK(t testing.TB, url string) {
	t.Helper()
	Eventually(t, 2*Soon, "no answer from "+url, func() bool {
		code, _ := Get(url)
		return code == http.StatusOK
	})
}

// Get returns the status and the body, 0 and the error if there was no answer.
func Get(url string) (int, string) { return Ask(url, func(*http.Request) {}) }

// Ask is Get with a request that is changed before it is sent.
func Ask(url string, change func(*http.Request)) (int, string) {
	c := http.Client{Timeout: Soon}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return 0, err.Error()
	}
	change(r)
	resp, err := c.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// GetAnew returns the body over a connection of its own: on an old one an old listener
// answers until it has drained.
func GetAnew(url string) string {
	c := http.Client{Timeout: Soon, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return string(b)
}
