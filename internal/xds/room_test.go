package xds

import (
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// unread is grpc's stream to a client that reads nothing until it is told to.
type unread struct {
	grpc.ServerStream
	sent []*response
}

func (u *unread) SendMsg(m any) error {
	r, _ := m.(*response)
	u.sent = append(u.sent, r)
	return nil
}

func (u *unread) read() {
	for _, r := range u.sent {
		r.Free()
	}
	u.sent = nil
}

// TestAResponseWaitsForRoom: with grpc's stream the owner would wait, with its own response it does not.
func TestAResponseWaitsForRoom(t *testing.T) {
	t.Parallel()
	client := &unread{}
	st := &stream{srv: &Server{cfg: Config{Limits: Limits{}.withDefaults()}}, ss: client, now: time.Now()}
	hand := func(size int) bool {
		t.Helper()
		st.waiting, st.since = &response{shared: make([]byte, size)}, st.now
		wrote, err := st.offer()
		if err != nil {
			t.Fatal(err)
		}
		return wrote
	}
	if !hand(maxUnsent/2) || !hand(1<<20) {
		t.Fatal("a response had to wait, though what is before it is small")
	}
	if hand(1) || len(client.sent) != 2 {
		t.Fatal("a response did not wait, though a large one is unread")
	}
	select {
	case <-st.freed():
		t.Fatal("there is room, though nothing was read")
	default:
	}
	st.now = st.now.Add(59 * time.Second)
	if wrote, err := st.offer(); wrote || err != nil {
		t.Fatalf("after 59 s: %v, %v", wrote, err)
	}
	client.read()
	<-st.freed()
	st.now = st.now.Add(time.Second)
	if wrote, err := st.offer(); !wrote || err != nil || len(client.sent) != 1 || st.freed() != nil {
		t.Fatalf("all was read, and what waits is not sent: %v, %v", wrote, err)
	}
	if !hand(maxUnsent) || hand(1) {
		t.Fatal("room is not counted any more")
	}
	st.now = st.now.Add(60 * time.Second)
	if _, err := st.offer(); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("after 60 s without a byte read: %v, want ResourceExhausted", err)
	}
}
