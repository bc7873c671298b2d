package xds_test

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// TestT08_AnAnswerThatIsNotReadCounts: a client that takes no byte of an answer has its call until
// its connection ends, and as few calls as one that reads: what is not sent is held here.
func TestT08_AnAnswerThatIsNotReadCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		w.Publish(xdstest.Put(fleet.Cluster, "c", "1"))
		seen := w.Open(xdstest.DeltaADS, "n1")
		seen.Subscribe(fleet.Cluster)
		seen.Settle()
		r := w.Raw()
		r.Deaf()
		ask := func() uint32 {
			id := r.Call(fetchMethod, "*")
			r.Send(id, xdstest.Message(0, nil), true)
			synctest.Wait()
			return id
		}
		for range 4 {
			ask()
		}
		if code, err := r.End(ask()); code != codes.ResourceExhausted {
			t.Errorf("a fifth call while no answer is read ended with %v (%v), want ResourceExhausted", code, err)
		}
		time.Sleep(61 * time.Second)
		if r.Alive() {
			t.Error("the connection lives on, and with it what its client does not read")
		}
	})
}
