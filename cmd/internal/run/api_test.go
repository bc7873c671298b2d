package run

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"fairlead/internal/door"
)

// TestALongRequestIsRefusedAsDocumented: what the contract allows of a bootstrap's query may be more than a request line takes, once it is
// percent-encoded. The answer is the one that its description tells.
func TestALongRequestIsRefusedAsDocumented(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = httpServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), door.New(Unauthenticated{}.limits(httpIdle), door.NewLog(slog.New(slog.DiscardHandler))))
	srv.Start()
	t.Cleanup(srv.Close)
	for value, want := range map[string]int{strings.Repeat("x", 1022): http.StatusOK, strings.Repeat(`"`, 1022): http.StatusRequestHeaderFieldsTooLarge} {
		query := url.Values{"node_id": {"edge-1"}, "xds": {"xds.example.com:18000"}}
		for range 16 {
			query.Add("metadata", "k="+value)
		}
		resp, err := srv.Client().Get(srv.URL + "/v1/tenants/a/fleets/b/bootstrap?" + query.Encode())
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("metadata of %.3s...: %s, want %d", value, resp.Status, want)
		}
		if kind := resp.Header.Get("Content-Type"); want != http.StatusOK && !strings.HasPrefix(kind, "text/plain") {
			t.Errorf("the answer is %q, and the contract says text/plain", kind)
		}
	}
}
