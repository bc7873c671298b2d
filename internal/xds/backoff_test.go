package xds_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// ask opens a stream of the token's over the connection and returns how long its first answer
// took, and what it is.
func ask(t *testing.T, conn *grpc.ClientConn, token, node string) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(xdstest.As(t.Context(), token))
	defer cancel()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_ = stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: xdstest.Envoy(node), TypeUrl: fleet.Secret.URL(), ResourceNamesSubscribe: []string{"a"}})
	_, err = stream.Recv()
	took := time.Since(begun)
	cancel()
	synctest.Wait() // the server knows that it ended
	return took, err
}

// TestT08_ARefusedCredentialWaits on the connection where it was refused, for longer each time;
// what was not refused does not.
func TestT08_ARefusedCredentialWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, func(c *xds.Config) { c.Limits.Message = 4 << 20 })
		w.Publish(xdstest.Put(fleet.Secret, "a", "1"))
		open := w.Open(xdstest.DeltaADS, "node")
		open.Subscribe(fleet.Secret, "a")
		open.Ack(open.Next())
		tooLong := strings.Repeat("x", 1000)
		var waits []time.Duration
		for range 14 {
			took, err := ask(t, w.Conn(), "*", tooLong)
			if status.Code(err) != codes.ResourceExhausted {
				t.Fatalf("ended with %v, want ResourceExhausted", err)
			}
			waits = append(waits, took)
		}
		for i, ms := range []int{0, 0, 0, 0, 0, 50, 100, 200, 400, 800, 1600, 3200, 5000, 5000} {
			if want := time.Duration(ms) * time.Millisecond; waits[i] != want {
				t.Errorf("call %d waited %s, want %s", i+1, waits[i], want)
			}
		}
		begun := time.Now()
		w.Publish(xdstest.Put(fleet.Secret, "a", "2"))
		open.Ack(open.Next())
		if d := time.Since(begun); d > 0 {
			t.Errorf("a stream that was open waited %s", d)
		}
		if d, err := ask(t, w.Conn(), "n*", "node"); d > 0 || err != nil {
			t.Errorf("another credential on the same connection waited %s, %v", d, err)
		}
		if d, err := ask(t, w.Dial(), "*", "node"); d > 0 || err != nil {
			t.Errorf("the same credential on another connection waited %s, %v", d, err)
		}
		if d, err := ask(t, w.Conn(), "*", "node"); d != 5*time.Second || err != nil {
			t.Errorf("a good call waited %s, %v, want 5s and an answer", d, err)
		}
		if d, err := ask(t, w.Conn(), "*", strings.Repeat("x", 5<<20)); d != 0 || status.Code(err) != codes.ResourceExhausted {
			t.Errorf("the next waited %s, %v, want none: the wait has passed", d, err)
		}
		if d, err := ask(t, w.Conn(), "*", "node"); d != 5*time.Second || err != nil {
			t.Errorf("after a message that is too large a call waited %s, %v, want 5s", d, err)
		}
		time.Sleep(time.Minute + time.Second)
		_, _ = ask(t, w.Conn(), "*", tooLong) // what is long ago is forgotten
		if d, err := ask(t, w.Conn(), "*", "node"); d > 0 || err != nil {
			t.Errorf("a minute later it waited %s, %v", d, err)
		}
	})
}

// TestT08_NotTooManyWait: one more than 1,000 is refused at once.
func TestT08_NotTooManyWait(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		for range 5 {
			_, _ = ask(t, w.Conn(), "*", strings.Repeat("x", 1000))
		}
		ctx, cancel := context.WithCancel(xdstest.As(t.Context(), "*"))
		ended := make(chan error, 1001)
		for range cap(ended) {
			stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(w.Conn()).DeltaAggregatedResources(ctx)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, err := stream.Recv()
				ended <- err
			}()
		}
		synctest.Wait()
		if len(ended) != 1 {
			t.Fatalf("%d of %d ended, want 1", len(ended), cap(ended))
		}
		if err := <-ended; status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "1000 wait") {
			t.Errorf("ended with %v", err)
		}
		cancel()
		for range cap(ended) - 1 {
			if err := <-ended; status.Code(err) != codes.Canceled {
				t.Fatalf("ended with %v", err)
			}
		}
	})
}
