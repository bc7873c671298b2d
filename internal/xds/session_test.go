package xds

import (
	"errors"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// TestRESTNotYet: 304 tells a client that what it has is current, and is no answer to one that has nothing, or something that nobody
// knows.
func TestRESTNotYet(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]*session{
		"it has nothing":         {resting: true, current: true},
		"it has what is unknown": {held: "v", resting: true},
		"it may not be current":  {held: "v", current: true},
	} {
		if a := x.unchanged(); !errors.Is(a.err, fleet.ErrUnavailable) {
			t.Errorf("%s: it is told %v", name, a.err)
		}
	}
	if a := (&session{held: "v", current: true, resting: true}).unchanged(); a.err != nil || a.response != nil {
		t.Errorf("what is current is told %+v", a)
	}
}

// TestRESTAPollThatComesWhileTheStreamLooks: the stream looked before the poll was there, and looks once more before it says that there is nothing.
func TestRESTAPollThatComesWhileTheStreamLooks(t *testing.T) {
	t.Parallel()
	x := &session{requests: make(chan *request, 1), given: 1}
	if x.wants(1) {
		t.Error("nobody waits, and a response is wanted")
	}
	p := &poll{request: &request{}, until: time.Now(), answer: make(chan answered, 1)}
	x.polls = append(x.polls, p)
	x.rests(1, true)
	select {
	case a := <-p.answer:
		t.Errorf("it is told %v before anybody looked for it", a.err)
	case r := <-x.requests:
		if !r.look || !x.wants(2) {
			t.Errorf("the stream is given %+v", r)
		}
	default:
		t.Error("nobody looks for it")
	}
	x.rests(2, true)
	select {
	case a := <-p.answer:
		if !errors.Is(a.err, fleet.ErrUnavailable) {
			t.Errorf("a client that has nothing is told %v", a.err)
		}
	default:
		t.Error("it is not answered though there is nothing to send")
	}
}
