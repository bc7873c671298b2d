package xds_test

import (
	"fmt"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/structpb"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// reading is a gRPC client that says that it understands resource_errors, and a node of whatever user agent that does.
func reading(t *testing.T, n *corev3.Node) *corev3.Node {
	t.Helper()
	metadata, err := structpb.NewStruct(map[string]any{"fairlead": map[string]any{"resource_errors": true}})
	if err != nil {
		t.Fatal(err)
	}
	n.Metadata = metadata
	return n
}

// errorsOf are the errors of a response, with their sentences.
func errorsOf(r *xdstest.Response) (texts []string) {
	for _, e := range r.Errors {
		texts = append(texts, fmt.Sprintf("%s %s: %s", e.Name, e.Code, e.Why))
	}
	return texts
}

// TestWhatDoesNotExistIsAnErrorToWhoReadsIt: in both protocols, once, in the place of a removed name; and the resource is sent when it comes.
func TestWhatDoesNotExistIsAnErrorToWhoReadsIt(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		c := xdstest.Open(t, w.Conn(), s.Protocol(), reading(t, xdstest.GRPC("n2")))
		w.Publish(xdstest.Put(fleet.Listener, "l", "1"), xdstest.Put(fleet.Route, "r", "1"))
		c.Subscribe(fleet.Listener, "l", "x")
		r := c.Want("listeners l@1 x!NotFound")
		if got := errorsOf(r); got[0] != "x NotFound: the fleet has no listeners/x for this node" {
			t.Errorf("the client is told %q", got)
		}
		c.Ack(r)
		c.Quiet()
		c.Subscribe(fleet.Route, "y")
		c.Ack(c.Want("routes y!NotFound"))
		c.Subscribe(fleet.Route, "r")
		c.Ack(c.Want("routes r@1"))
		c.Quiet()
		w.Publish(xdstest.Put(fleet.Route, "y", "1"))
		c.Ack(c.Want("routes y@1"))
		w.Publish(xdstest.Put(fleet.Listener, "x", "1"))
		all := map[bool]string{true: "listeners x@1", false: "listeners l@1 x@1"}
		c.Ack(c.Want(all[s.Protocol().Delta]))
		c.Quiet()

		// What is deleted is taken away, and is an error to who has nothing of it any more.
		w.Publish(xdstest.Delete(fleet.Listener, "x"))
		c.Ack(c.Want(map[bool]string{true: "listeners -x", false: "listeners l@1 x!NotFound"}[s.Protocol().Delta]))
		c.Quiet()
		w.Publish(xdstest.Put(fleet.Listener, "x", "2"))
		c.Ack(c.Want(map[bool]string{true: "listeners x@2", false: "listeners l@1 x@2"}[s.Protocol().Delta]))
		c.Unsubscribe(fleet.Route, "y")
		c.Quiet()
	})
}

// TestWhatIsWithheldIsAnErrorToWhoReadsIt: with the reason that the receipt has, until it is sent.
func TestWhatIsWithheldIsAnErrorToWhoReadsIt(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		c := xdstest.Open(t, w.Conn(), s.Protocol(), reading(t, xdstest.GRPC("n2")))
		w.Publish(xdstest.Put(fleet.Listener, "l", "1", xdstest.Needing(fleet.Route, "r")), xdstest.Put(fleet.Listener, "m", "1"))
		c.Subscribe(fleet.Listener, "l", "m")
		r := c.Want("listeners m@1 l!FailedPrecondition")
		if got := errorsOf(r); got[0] != "l FailedPrecondition: withheld, missing: it names routes/r, which does not exist for this node" {
			t.Errorf("the client is told %q", got)
		}
		c.Ack(r)
		c.Quiet()
		w.Publish(xdstest.Put(fleet.Listener, "l", "2", xdstest.Needing(fleet.Route, "s")))
		r = c.Want(map[bool]string{true: "listeners l!FailedPrecondition", false: "listeners m@1 l!FailedPrecondition"}[s.Protocol().Delta])
		if got := errorsOf(r); !strings.Contains(got[0], "routes/s") {
			t.Errorf("the client is told %q", got)
		}
		c.Ack(r)
		w.Publish(xdstest.Delete(fleet.Listener, "l"))
		c.Ack(c.Want(map[bool]string{true: "listeners l!NotFound", false: "listeners m@1 l!NotFound"}[s.Protocol().Delta]))
		w.Publish(xdstest.Put(fleet.Listener, "l", "1", xdstest.Needing(fleet.Route, "r")), xdstest.Put(fleet.Route, "r", "1"))
		c.Ack(c.Want(map[bool]string{true: "listeners l@1", false: "listeners l@1 m@1"}[s.Protocol().Delta]))
		c.Quiet()

		w.Seal("k")
		c.Subscribe(fleet.Secret, "k")
		r = c.Want("secrets k!FailedPrecondition")
		if got := errorsOf(r); got[0] != "k FailedPrecondition: withheld, sealed: the server has no key to open it" {
			t.Errorf("the client is told %q", got)
		}
		c.Ack(r)
		c.Quiet()
	})
}

// TestNobodyMayHaveAllSecrets: a wildcard of secrets is denied, once, and each is sent to who names it.
func TestNobodyMayHaveAllSecrets(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		c := xdstest.Open(t, w.Conn(), s.Protocol(), reading(t, xdstest.GRPC("n2")))
		w.Publish(xdstest.Put(fleet.Secret, "k", "1"))
		c.Subscribe(fleet.Secret, "*")
		r := c.Want("secrets *!PermissionDenied")
		c.Ack(r)
		c.Quiet()
		c.Subscribe(fleet.Secret, "k")
		c.Ack(c.Want("secrets k@1"))
		c.Quiet()
	})
}

// TestOthersAreToldNoErrors: without the word of the client, and of an Envoy whatever it says, which goes on to wait for what is only an error.
func TestOthersAreToldNoErrors(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(xdstest.Put(fleet.Endpoint, "e", "1"))
		for name, node := range map[string]*corev3.Node{"a gRPC client": xdstest.GRPC("n2"), "an Envoy": reading(t, xdstest.Envoy("n3"))} {
			c := xdstest.Open(t, w.Conn(), s.Protocol(), node)
			c.Subscribe(fleet.Endpoint, "e", "x")
			r := c.Next()
			if len(r.Errors) > 0 || s.Protocol().Delta && len(r.Removed) != 1 {
				t.Errorf("%s is sent %s", name, r)
			}
			c.Ack(r)
			c.Quiet()
		}
	})
}

// TestErrorsAreBounded: many names that there are not are told of in parts, and all of them; a name that is too long is an error of its own in delta.
func TestErrorsAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, func(c *xds.Config) { c.Limits.Names = 5000 })
		for _, v := range []xdstest.Protocol{xdstest.DeltaADS, xdstest.SotWADS} {
			c := xdstest.Open(t, w.Conn(), v, reading(t, xdstest.GRPC("n-"+v.String())))
			var names []string
			for i := range 2500 {
				names = append(names, fmt.Sprintf("%04d", i))
			}
			c.Subscribe(fleet.Route, names...)
			seen := map[string]int{}
			for _, r := range c.Settle() {
				if len(r.Errors) > 1000 || r.Size > 1<<20 {
					t.Errorf("%s: %d errors, %d bytes in one response", v, len(r.Errors), r.Size)
				}
				for _, e := range r.Errors {
					if seen[e.Name]++; e.Code != codes.NotFound {
						t.Errorf("%s: %s is %s", v, e.Name, e.Code)
					}
				}
			}
			for _, n := range names {
				if seen[n] != 1 {
					t.Fatalf("%s: told %d times of %s", v, seen[n], n)
				}
			}
			if v.Delta {
				c.Subscribe(fleet.Route, strings.Repeat("x", 600))
				if r := c.Next(); len(r.Errors) != 1 || r.Errors[0].Code != codes.ResourceExhausted {
					t.Errorf("a long name is answered by %s", r)
				}
			}
		}
	})
}

// TestANameThatIsGivenUpIsNoError: a cluster that is delivered by name is there. Who gives its name up beside all clusters is answered that it has nothing of it, and not that the
// fleet has none.
func TestANameThatIsGivenUpIsNoError(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		c := xdstest.Open(t, w.Conn(), xdstest.DeltaADS, reading(t, xdstest.GRPC("n2")))
		w.Publish(xdstest.Put(fleet.Cluster, "a", "1"), xdstest.Put(fleet.Cluster, "b", "1", xdstest.ByName), xdstest.Put(fleet.Cluster, "c", "1", xdstest.ByName, xdstest.Needing(fleet.Secret, "k")))
		c.Subscribe(fleet.Cluster, "*")
		r := c.Want("clusters a@1")
		c.Subscribe(fleet.Cluster, "b")
		c.Unsubscribe(fleet.Cluster, "b")
		c.Ack(r)
		c.Ack(c.Want("clusters -b"))
		c.Quiet()
		c.Subscribe(fleet.Cluster, "b", "c", "x")
		c.Ack(c.Want("clusters b@1 c!FailedPrecondition x!NotFound"))
		c.Unsubscribe(fleet.Cluster, "b", "c", "x")
		c.Ack(c.Want("clusters -b -c -x"))
		c.Quiet()
	})
}
