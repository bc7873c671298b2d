package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"fairlead/internal/store"
)

func TestATimeoutSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for wait, want := range map[store.Wait]struct {
		words string
		retry time.Duration
	}{
		store.WaitWork:  {"ask for less at once", 5 * time.Second},
		store.WaitHead:  {"fewer writes of one fleet", time.Second},
		store.WaitShare: {"fewer requests", time.Second},
		store.WaitConn:  {"server's other requests", time.Second},
	} {
		p := problemOf(fmt.Errorf("apply: %w", &store.TimeoutError{Wait: wait, Limit: 22 * time.Second}))
		if p.status != 503 || p.code != "timeout" || p.retry != want.retry || !strings.Contains(p.detail, want.words) || !strings.Contains(p.detail, "22s") {
			t.Errorf("%d: %+v", wait, p)
		}
	}
}

func TestWhoDidNotWaitIsNotToldSo(t *testing.T) {
	t.Parallel()
	for wait, whose := range map[store.Wait]string{store.WaitHead: "fleet", store.WaitShare: "tenant"} {
		p := problemOf(&store.TimeoutError{Wait: wait, Limit: 22 * time.Second, Crowded: true})
		if p.code != "timeout" || p.retry != time.Second || strings.Contains(p.detail, "22s") || !strings.Contains(p.detail, whose) {
			t.Errorf("%d: %+v", wait, p)
		}
	}
}

func TestABusyFleetIsATimeout(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.put("a")
	conn := w.db.Connect(t, w.db.Owner)
	defer conn.Close(t.Context()) //nolint:errcheck // it gives the lock back
	tx, err := conn.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM fleet_heads FOR NO KEY UPDATE`)
	must(t, err)
	hasty := w.besideOn(w.db.Open(t, store.Config{URL: w.db.App, Patience: 1}))
	a := hasty.do(http.MethodPut, w.at("resources", "clusters", "b"), asDocument(cluster("b")))
	a.isProblem(503, "timeout", "")
	if a.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
	}
	if got := w.logs.String(); strings.Contains(got, `"level":"ERROR"`) || !strings.Contains(got, `"code":"timeout"`) {
		t.Errorf("a tenant's own writes are an error of the server: %s", got)
	}
	must(t, tx.Rollback(t.Context()))
	w.put("b")
}
