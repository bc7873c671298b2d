package httpapi

import (
	"net/http"
	"runtime"
	"testing"
	"time"

	"fairlead/internal/httpapi/access"
)

// TestT44_RequestsWaitForTheirTenantsShare: while others go on.
func TestT44_RequestsWaitForTheirTenantsShare(t *testing.T) {
	t.Parallel()
	w := setup(t)
	other := w.fleetOf("other")
	w.put("c")
	other.put("c")
	w.api.shares.Hold = time.Hour
	var places []*access.Place
	for range w.api.shares.Places {
		p, err := w.api.shares.Enter(t.Context(), w.tenant.ID)
		must(t, err)
		places = append(places, p)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.do(http.MethodGet, w.at("resources", "clusters", "c"), "").is(200, nil)
	}()
	for w.api.shares.Requests(w.tenant.ID) <= len(places) {
		select {
		case <-done:
			t.Fatal("a request beyond the share does not wait")
		default:
			runtime.Gosched()
		}
	}
	other.do(http.MethodGet, other.at("resources", "clusters", "c"), "").is(200, nil)
	for _, p := range places {
		p.Leave()
	}
	<-done
}
