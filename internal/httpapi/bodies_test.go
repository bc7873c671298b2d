package httpapi

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/access"
)

// sendSlowly begins a request whose body does not come to its end.
func (w *world) sendSlowly(path, head string) net.Conn {
	w.t.Helper()
	c, err := (&net.Dialer{}).DialContext(w.t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	must(w.t, err)
	w.t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n%s\r\n\r\n", path, w.owner, head)
	must(w.t, err)
	return c
}

// TestT09_BodiesShareTheirRoom: a body is held from before it is read until its request is answered, so what a tenant sends slowly, or to all requests at once, is bounded. Small ones, deletions
// and other tenants' go on.
func TestT09_BodiesShareTheirRoom(t *testing.T) {
	t.Parallel()
	long := largeDocument()
	for how, head := range map[string]string{
		"of a length":   fmt.Sprintf("Content-Length: %d", len(long)),
		"of no length":  "Transfer-Encoding: chunked",
		"of many bytes": fmt.Sprintf("Content-Length: %d", maxDocument),
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			other := w.fleetOf("other")
			w.put("c")
			w.api.bodies.Tenant, w.api.bodies.Patience = maxDocument, 50*time.Millisecond
			if how == "of a length" {
				w.api.bodies.Tenant = int64(2*len(long) - 1)
			}
			slow := w.sendSlowly(w.at("plan"), head)
			for end := time.Now().Add(10 * time.Second); w.api.bodies.Requests(w.tenant.ID) == 0; {
				if time.Now().After(end) {
					t.Fatal("a body that is read has no room")
				}
				runtime.Gosched()
			}
			p := w.do(http.MethodPost, w.at("import"), long).isProblem(503, "timeout", "")
			if !strings.Contains(deref(p.Detail), "send fewer at the same time") {
				t.Error(deref(p.Detail))
			}
			w.do(http.MethodPost, w.at("apply"), applyOf(named("clusters", "d", clusterWith("d", "2s")))).is(200, nil)
			w.do(http.MethodDelete, w.at("resources", "clusters", "c"), "").is(200, nil)
			other.do(http.MethodPost, other.at("plan"), long).isProblem(422, "invalid_resource", "/resources/0/body/nope")
			w.api.bodies.Patience = time.Minute
			waited := make(chan answer, 1)
			go func() { waited <- w.do(http.MethodPost, w.at("plan"), long) }()
			for w.api.bodies.Requests(w.tenant.ID) < 2 {
				runtime.Gosched()
			}
			must(t, slow.Close())
			(<-waited).isProblem(422, "invalid_resource", "/resources/0/body/nope")
			for w.api.bodies.Requests(w.tenant.ID) > 0 { // nothing stays
				runtime.Gosched()
			}
		})
	}
}

// TestT44_ATenantsBodiesHoldUpNobodyElses: one tenant has an eighth of the room.
func TestT44_ATenantsBodiesHoldUpNobodyElses(t *testing.T) {
	t.Parallel()
	b, one, other := access.NewBodies(), fleet.NewTenantID(), fleet.NewTenantID()
	b.Patience = time.Millisecond
	held := 0
	for ; ; held++ {
		if _, err := b.Enter(t.Context(), one, maxDocument, func() {}); err != nil {
			break
		}
	}
	if want := 256 << 20 / 8 / maxDocument; held != want {
		t.Errorf("a tenant has %d of the longest, want %d", held, want)
	}
	leave, err := b.Enter(t.Context(), other, maxDocument, func() { t.Error("another tenant waits") })
	must(t, err)
	leave()
}
