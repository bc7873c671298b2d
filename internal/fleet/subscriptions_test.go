package fleet

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func asking(how map[Type]Asks, listeners ...string) (s Subscriptions) {
	for t, a := range how {
		s.Types[t] = a
	}
	s.Listeners = listeners
	return s
}

func TestWhatASubscriptionExcludes(t *testing.T) {
	t.Parallel()
	all := asking(map[Type]Asks{Cluster: AsksAll, Listener: AsksAll})
	named := asking(map[Type]Asks{Listener: AsksNames, Cluster: AsksNames}, "a", "b")
	many := asking(map[Type]Asks{Listener: AsksNames})
	many.Many = MaxAsked + 1
	for _, c := range []struct {
		s    Subscriptions
		ref  Ref
		want bool
	}{
		{Subscriptions{}, Ref{Type: Runtime, Name: "r"}, false}, // nothing is known
		{all, Ref{Type: Listener, Name: "x"}, false},
		{all, Ref{Type: Route, Name: "x"}, false}, // that is not told
		{all, Ref{Type: Runtime, Name: "x"}, true},
		{named, Ref{Type: Listener, Name: "b"}, false},
		{named, Ref{Type: Listener, Name: "x"}, true},
		{named, Ref{Type: Cluster, Name: "x"}, false},
		{many, Ref{Type: Listener, Name: "x"}, false},
	} {
		if got := c.s.Excludes(c.ref); got != c.want {
			t.Errorf("%+v excludes %+v: %v", c.s, c.ref, got)
		}
	}
}

func TestWhatMostEnvoysSubscribeToIsNotTold(t *testing.T) {
	t.Parallel()
	most := asking(map[Type]Asks{Cluster: AsksAll, Listener: AsksAll})
	if most.Unusual("envoy").Known() || !most.Unusual("gRPC Go").Equal(most) {
		t.Error("it is told of an Envoy, or not told of another client")
	}
	more := most
	more.Types[Runtime] = AsksNames
	if less := asking(map[Type]Asks{Cluster: AsksAll}); !more.Unusual("envoy").Equal(more) || !less.Unusual("envoy").Equal(less) {
		t.Error("what few Envoys subscribe to is not told")
	}
}

func TestWhatSeveralStreamsSubscribeTo(t *testing.T) {
	t.Parallel()
	cds, lds := asking(map[Type]Asks{Cluster: AsksAll}), asking(map[Type]Asks{Listener: AsksNames}, "a", "c")
	if d := cmp.Diff(asking(map[Type]Asks{Cluster: AsksAll, Listener: AsksNames}, "a", "b", "c"), cds.With(lds).With(asking(map[Type]Asks{Listener: AsksNames}, "b", "c"))); d != "" {
		t.Error(d)
	}
	if got := lds.With(asking(map[Type]Asks{Listener: AsksAll})); got.Listeners != nil || got.Types[Listener] != AsksAll {
		t.Errorf("all and some are all: %+v", got)
	}
	var names []string
	for i := range MaxAsked {
		names = append(names, fmt.Sprintf("n%02d", i))
	}
	got := lds.With(asking(map[Type]Asks{Listener: AsksNames}, names...))
	if got.Listeners != nil || got.Many != MaxAsked+2 || got.Equal(lds) || !got.With(Subscriptions{}).Equal(got) {
		t.Errorf("too many names: %+v", got)
	}
	if (Subscriptions{}).With(Subscriptions{}).Known() {
		t.Error("of nothing something is known")
	}
}
