package xds_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// told is a status in few words: "clusters a@1 SYNCED; ...".
func told(c *statusv3.ClientConfig) []string {
	var out []string
	for _, x := range c.GetGenericXdsConfigs() {
		t, _ := fleet.TypeFromURL(x.GetTypeUrl())
		s := fmt.Sprintf("%s %s %s", t.Slug(), x.GetName(), x.GetConfigStatus())
		if e := x.GetErrorState(); e != nil {
			s += ": " + e.GetDetails()
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

func fetchStatus(ctx context.Context, t *testing.T, w *xdstest.World, r *statusv3.ClientStatusRequest) []*statusv3.ClientConfig {
	t.Helper()
	out, err := statusv3.NewClientStatusDiscoveryServiceClient(w.Conn()).FetchClientStatus(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	return out.GetConfig()
}

func wantTold(t *testing.T, c *statusv3.ClientConfig, want ...string) {
	t.Helper()
	if got := told(c); !slices.Equal(got, want) {
		t.Errorf("%s is told as\n%s\nwant\n%s", c.GetNode().GetId(), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestClientStatus: what was sent, ACKed and NACKed, with the client's words.
func TestClientStatus(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		ctx := xdstest.As(t.Context(), "*")
		one := func() *statusv3.ClientConfig {
			synctest.Wait()
			nodes := fetchStatus(ctx, t, w, &statusv3.ClientStatusRequest{})
			if len(nodes) != 1 {
				t.Fatalf("%d nodes, want 1", len(nodes))
			}
			return nodes[0]
		}
		w.Publish(append(cluster("a", "1"), route("r", "1", "a"), xdstest.Put(fleet.Secret, "s", "1"))...)
		s.Subscribe(fleet.Cluster)
		clusters := s.Want("clusters a@1")
		s.Subscribe(fleet.Endpoint, "a")
		s.Subscribe(fleet.Route, "r")
		s.Subscribe(fleet.Secret, "s")
		endpoints, secrets := s.Next(), s.Next()
		wantTold(t, one(), "clusters a STALE", "endpoints a STALE", "routes r NOT_SENT", "secrets s STALE")
		s.Ack(endpoints)
		s.Ack(secrets)
		s.Ack(clusters)
		s.Ack(s.Want("routes r@1"))
		n := one()
		wantTold(t, n, "clusters a SYNCED", "endpoints a SYNCED", "routes r SYNCED", "secrets s SYNCED")
		for _, x := range n.GetGenericXdsConfigs() {
			secret := strings.HasSuffix(x.GetTypeUrl(), "Secret")
			if (x.GetXdsConfig() == nil) != secret || x.GetLastUpdated() == nil || x.GetVersionInfo() == "" {
				t.Errorf("told %v, want a body of all but the secret, a time and a version", x)
			}
		}

		w.Publish(route("r", "2", "a"))
		s.Nack(s.Want("routes r@2"), "route r is no good")
		s.Ack(s.Want("routes r@1"))
		wantTold(t, one(), "clusters a SYNCED", "endpoints a SYNCED", "routes r ERROR: route r is no good", "secrets s SYNCED")
		w.Publish(route("r", "3", "a"))
		s.Ack(s.Want("routes r@3"))
		wantTold(t, one(), "clusters a SYNCED", "endpoints a SYNCED", "routes r SYNCED", "secrets s SYNCED")
		for _, x := range fetchStatus(ctx, t, w, &statusv3.ClientStatusRequest{ExcludeResourceContents: true})[0].GetGenericXdsConfigs() {
			if x.GetXdsConfig() != nil {
				t.Errorf("told the body of %s, want none", x.GetName())
			}
		}
	})
}

// TestClientStatusOfARefusedNewResource: it is with no version at the client, and still told.
func TestClientStatusOfARefusedNewResource(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(xdstest.Put(fleet.Listener, "bad", "1"))
		s.Subscribe(fleet.Listener)
		s.Nack(s.Want("listeners bad@1"), "bad listener")
		s.Ack(s.Next())
		s.Quiet()
		nodes := fetchStatus(xdstest.As(t.Context(), "*"), t, w, &statusv3.ClientStatusRequest{})
		wantTold(t, nodes[0], "listeners bad ERROR: bad listener")
	})
}

// TestClientStatusOfADeletedName: a refusal is told while the fleet has the name, be it
// kept at its last known good version or left out, and no longer.
func TestClientStatusOfADeletedName(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		told := func(want ...string) {
			t.Helper()
			s.Settle()
			synctest.Wait()
			wantTold(t, fetchStatus(xdstest.As(t.Context(), "*"), t, w, &statusv3.ClientStatusRequest{})[0], want...)
		}
		w.Publish(xdstest.Put(fleet.Listener, "old", "1"))
		s.Subscribe(fleet.Listener)
		s.Settle()
		w.Publish(xdstest.Put(fleet.Listener, "old", "2"))
		s.Nack(s.Next(), "listener old is no good")
		s.Settle()
		w.Publish(xdstest.Put(fleet.Listener, "new", "1"))
		s.Nack(s.Next(), "listener new is no good")
		told("listeners new ERROR: listener new is no good", "listeners old ERROR: listener old is no good")
		w.Publish(xdstest.Put(fleet.Listener, "beside", "1"))
		told("listeners beside SYNCED", "listeners new ERROR: listener new is no good", "listeners old ERROR: listener old is no good")
		w.Publish(xdstest.Delete(fleet.Listener, "old"))
		told("listeners beside SYNCED", "listeners new ERROR: listener new is no good")
		w.Publish(xdstest.Delete(fleet.Listener, "new"))
		told("listeners beside SYNCED")
	})
}

// TestClientStatusIsOfOneFleet and of the nodes that the credential is good for.
func TestClientStatusIsOfOneFleet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t, func(c *xds.Config) { c.Authenticator = tenants{c.Authenticator} })
		for _, x := range []struct {
			token xdstest.Token
			id    string
		}{{"*", "edge-1"}, {"*", "core-1"}, {"other-*", "other-1"}} {
			c := xdstest.Open(t, w.Conn(), xdstest.DeltaADS, xdstest.Envoy(x.id), x.token)
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters"))
		}
		synctest.Wait()
		for token, want := range map[string][]string{
			"*": {"core-1", "edge-1"}, "edge-*": {"edge-1"}, "nobody": nil, "other-*": {"other-1"},
		} {
			var got []string
			for _, n := range fetchStatus(xdstest.As(t.Context(), token), t, w, &statusv3.ClientStatusRequest{}) {
				got = append(got, n.GetNode().GetId())
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s sees %v, want %v", token, got, want)
			}
		}
	})
}

// tenants makes tokens that begin with "other" those of another tenant.
type tenants struct{ xds.Authenticator }

func (a tenants) Authenticate(ctx context.Context, token string) (xds.Identity, error) {
	id, err := a.Authenticator.Authenticate(ctx, token)
	if strings.HasPrefix(token, "other") {
		id.Key.Tenant = fleet.NewTenantID()
		id.Key.Tenant[0] = 1 // the same each time
		clear(id.Key.Tenant[1:])
	}
	return id, err
}

func TestClientStatusMatchers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		for _, id := range []string{"edge-1", "edge-2", "core-1"} {
			c := w.Open(xdstest.DeltaADS, id)
			c.Subscribe(fleet.Cluster)
			c.Ack(c.Want("clusters"))
		}
		synctest.Wait()
		ctx := xdstest.As(t.Context(), "*")
		for _, x := range []struct {
			want string
			m    *matcherv3.StringMatcher
		}{
			{"edge-1", &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: "edge-1"}}},
			{"edge-1 edge-2", &matcherv3.StringMatcher{IgnoreCase: true, MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: "EDGE"}}},
			{"core-1 edge-1", &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Suffix{Suffix: "-1"}}},
			{"core-1", &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Contains{Contains: "ore"}}},
			{"edge-2", &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: ".*2"}}}},
			{"core-1 edge-1 edge-2", nil},
		} {
			var got []string
			for _, n := range fetchStatus(ctx, t, w, &statusv3.ClientStatusRequest{NodeMatchers: []*matcherv3.NodeMatcher{{NodeId: x.m}}}) {
				got = append(got, n.GetNode().GetId())
			}
			if strings.Join(got, " ") != x.want {
				t.Errorf("%v matches %v, want %s", x.m, got, x.want)
			}
		}
		client := statusv3.NewClientStatusDiscoveryServiceClient(w.Conn())
		for says, m := range map[string]*matcherv3.NodeMatcher{
			"node_metadatas": {NodeMetadatas: []*matcherv3.StructMatcher{{}}},
			"cannot be read": {NodeId: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: "("}}}},
			"only exact":     {NodeId: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Custom{}}},
		} {
			_, err := client.FetchClientStatus(ctx, &statusv3.ClientStatusRequest{NodeMatchers: []*matcherv3.NodeMatcher{m}})
			if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want InvalidArgument with %q", err, says)
			}
		}
	})
}

func TestClientStatusOverAStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		ss, err := statusv3.NewClientStatusDiscoveryServiceClient(w.Conn()).StreamClientStatus(xdstest.As(t.Context(), "*"))
		if err != nil {
			t.Fatal(err)
		}
		ask := func() int {
			if err := ss.Send(&statusv3.ClientStatusRequest{}); err != nil {
				t.Fatal(err)
			}
			r, err := ss.Recv()
			if err != nil {
				t.Fatal(err)
			}
			return len(r.GetConfig())
		}
		if n := ask(); n != 0 {
			t.Errorf("%d nodes before any connected, want 0", n)
		}
		c := w.Open(xdstest.SotWADS, "n1")
		c.Subscribe(fleet.Cluster)
		c.Ack(c.Want("clusters"))
		if n := ask(); n != 1 {
			t.Errorf("%d nodes, want 1", n)
		}
		if err := ss.CloseSend(); err != nil {
			t.Fatal(err)
		}
		if _, err := ss.Recv(); err == nil || err.Error() != "EOF" {
			t.Errorf("ended with %v, want OK", err)
		}
	})
}

// TestClientStatusIsBounded: it is refused with the remedy, not cut.
func TestClientStatusIsBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		w.Publish(
			xdstest.Put(fleet.Cluster, "a", "1", xdstest.Padding(2<<20)), xdstest.Put(fleet.Cluster, "b", "1", xdstest.Padding(2<<20)),
			xdstest.Put(fleet.Cluster, "c", "1", xdstest.Padding(2<<20)),
		)
		c := w.Open(xdstest.DeltaADS, "n1")
		c.Subscribe(fleet.Cluster)
		c.Settle()
		ctx := xdstest.As(t.Context(), "*")
		client := statusv3.NewClientStatusDiscoveryServiceClient(w.Conn())
		_, err := client.FetchClientStatus(ctx, &statusv3.ClientStatusRequest{})
		if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "exclude_resource_contents") {
			t.Errorf("got %v, want ResourceExhausted with the remedy", err)
		}
		if nodes := fetchStatus(ctx, t, w, &statusv3.ClientStatusRequest{ExcludeResourceContents: true}); len(nodes) != 1 {
			t.Errorf("%d nodes without bodies, want 1", len(nodes))
		}
	})
}
