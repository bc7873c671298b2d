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
