package fleet

import (
	"fmt"
	"testing"
)

func TestWaits(t *testing.T) {
	t.Parallel()
	route := func(name string) Ref { return Ref{Type: Route, Name: name} }
	edge := Ref{Type: Listener, Name: "edge"}
	a := Waits{Warming: []Ref{{Type: Cluster, Name: "b"}}, Withheld: []Withheld{{Ref: edge, By: route("r")}}}
	b := Waits{Warming: []Ref{{Type: Cluster, Name: "a"}, {Type: Cluster, Name: "b"}}, More: 2}
	want := Waits{Warming: []Ref{{Type: Cluster, Name: "a"}, {Type: Cluster, Name: "b"}}, Withheld: a.Withheld, More: 2}
	if got := a.With(b); !got.Equal(want) || !b.With(a).Equal(want) {
		t.Errorf("both: %+v", got)
	}
	if !(Waits{}).Empty() || !(Waits{}).With(Waits{}).Equal(Waits{}) || a.Empty() || (Waits{More: 1}).Empty() {
		t.Error("empty")
	}
	for _, o := range []Waits{{}, {Warming: a.Warming}, {Withheld: a.Withheld}, {Warming: a.Warming, Withheld: a.Withheld, More: 1}} {
		if o.Equal(a) {
			t.Errorf("%+v equals %+v", o, a)
		}
	}
	if a.Blocked() || b.Blocked() || !(Waits{Withheld: a.Withheld}).Blocked() {
		t.Error("blocked is: withheld alone")
	}
	var many Waits
	for i := range 50 {
		many.Withheld = append(many.Withheld, Withheld{Ref: edge, By: route(fmt.Sprintf("r%02d", i))})
	}
	if got := many.With(b); len(got.Withheld) != MaxWaits || got.More != 32 || got.Withheld[MaxWaits-1].By.Name != "r19" {
		t.Errorf("%d of 50, %d more", len(got.Withheld), got.More)
	}
}

// One of each revision is named before several of one, and where that is too much it is
// said from where on.
func TestWaitsNameEachRevision(t *testing.T) {
	t.Parallel()
	of := func(first, last, each int) (w Waits) {
		for rev := first; rev <= last; rev++ {
			for i := range each {
				w.Withheld = append(w.Withheld, Withheld{Ref: Ref{Type: Listener, Name: fmt.Sprintf("%04d-%d", 9999-rev, i)}, Revision: Revision(rev)})
			}
		}
		return w
	}
	for name, c := range map[string]struct {
		w         Waits
		len, more int
		cut       Revision
	}{
		"few":        {of(1, 2, 10), 20, 0, 0},
		"of two":     {of(1, 2, 50), 20, 80, 0},
		"of fifty":   {of(1, 50, 3), 50, 100, 0},
		"too many":   {of(1, 150, 2), 100, 200, 101},
		"joined":     {of(1, 120, 1).With(of(90, 95, 1)), 100, 20, 101},
		"lower ones": {of(20, 150, 1).With(Waits{}).With(of(1, 60, 1)), 100, 31 + 19, 101},
	} {
		got := c.w.With(Waits{})
		if len(got.Withheld) != c.len || got.More != c.more || got.Cut != c.cut {
			t.Errorf("%s: %d named, %d more, cut at %d", name, len(got.Withheld), got.More, got.Cut)
		}
		for _, h := range c.w.Withheld {
			if !got.Withholds(h.Revision) {
				t.Errorf("%s: revision %d is lost", name, h.Revision)
			}
		}
		if again := got.With(Waits{}); !again.Equal(got) {
			t.Errorf("%s: twice is another: %+v", name, again)
		}
	}
}

func TestWaitsOfARevision(t *testing.T) {
	t.Parallel()
	unknown, three, five := Withheld{By: Ref{Name: "0"}}, Withheld{By: Ref{Name: "3"}, Revision: 3}, Withheld{By: Ref{Name: "5"}, Revision: 5}
	w := Waits{Warming: []Ref{{Type: Cluster, Name: "c"}}, Withheld: []Withheld{unknown, three, five}, More: 2}
	for got, want := range map[*Waits]Waits{
		ptr(w.Of(3, false)):    {Withheld: []Withheld{three}},
		ptr(w.Of(4, true)):     {Warming: w.Warming, Withheld: []Withheld{unknown}, More: 2},
		ptr(w.PassedOver(2)):   {},
		ptr(w.PassedOver(4)):   {Withheld: []Withheld{three}},
		ptr(w.PassedOver(100)): {Withheld: []Withheld{three, five}},
		ptr(Waits{Withheld: []Withheld{five}, More: 1, Cut: 7}.PassedOver(5)): {Withheld: []Withheld{five}, More: 1, Cut: 7},
	} {
		if !got.Equal(want) {
			t.Errorf("%+v, want %+v", *got, want)
		}
	}
	if w.Withholds(0) || w.Withholds(4) || !w.Withholds(5) || (Waits{Cut: 4}).Withholds(3) || !(Waits{Cut: 4}).Withholds(9) {
		t.Error("withholds")
	}
	if w.Confirmed(2) != 2 || w.Confirmed(9) != 2 || (Waits{Cut: 4}).Confirmed(9) != 3 {
		t.Error("confirmed")
	}
}

func ptr[T any](v T) *T { return &v }

// Where names were cut it is not known what a node has.
func TestWhatANodeHasIsNotKnownWithoutAllNames(t *testing.T) {
	var w Waits
	for i := range 30 {
		w = w.With(Waits{Withheld: []Withheld{{Ref: Ref{Type: Listener, Name: fmt.Sprintf("l%02d", i)}, By: Ref{Type: Route, Name: "r"}, Revision: 5}}})
	}
	few := Waits{Withheld: w.Withheld[:2], Warming: []Ref{{Type: Cluster, Name: "c"}}}
	if h := few.Held(6); h.At != 6 || len(h.Without) != 2 {
		t.Errorf("%+v", h)
	}
	w.Warming = few.Warming
	if h := w.Held(6); h.At != 0 {
		t.Errorf("held at %d without %d of 30", h.At, len(h.Without))
	}
}
