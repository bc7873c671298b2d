package alerts

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	client "fairlead/clients/go"
	"fairlead/internal/seal"
	"fairlead/test/world"
)

const (
	minute = time.Minute
	unconf = "fairlead_fleets_unconfirmed_seconds"
	lease  = "fairlead_lease_last_renewed_timestamp_seconds"
	heard  = "fairlead_listener_last_heard_timestamp_seconds"
	behind = "fairlead_fleet_behind_seconds"
)

// watched is an installation that a Prometheus scrapes, with one server of each kind and the resources of a routed request.
type watched struct {
	*world.World
	prom *prometheus
	xds  *world.XDS
	tap  *world.Tap
}

func watch(t *testing.T, w *world.World, xdsArgs ...string) *watched {
	t.Helper()
	x := &watched{World: w, prom: newPrometheus(t), xds: w.XDS(xdsArgs...)}
	x.prom.watchAPI("api-1", w.Server)
	x.prom.watchXDS("xds-1", x.xds)
	x.tap = world.NewTap(t, x.xds.Address)
	x.Apply(world.Together(world.Listener("l", world.FreePort(t), "r"), world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a"))))
	return x
}

// envoy starts one, and waits until it has all.
func (x *watched) envoy() {
	x.T.Helper()
	x.Envoy("n1", x.tap.Address, true)
	x.AwaitLive("n1")
}

// well: nothing fires for a while.
func (x *watched) well() {
	x.T.Helper()
	x.prom.pass(3 * minute)
	x.prom.fires()
}

// TestDatabaseStops: it is what the pages say, and what fixes it is to start Postgres again.
func TestDatabaseStops(t *testing.T) {
	t.Parallel()
	w, pg := world.NewAlone(t)
	x := watch(t, w)
	x.envoy()
	x.well()

	pg.Kill()
	x.prom.lasts("xds-1", unconf, lease, heard)
	write := func() {
		p, err := x.REST.PutResourceWithBodyWithResponse(t.Context(), x.Tenant, x.Fleet, "clusters", "a", nil, "application/yaml", strings.NewReader(world.Cluster("a", "2s").Document()))
		world.Must(t, err)
		if p.StatusCode() != http.StatusServiceUnavailable {
			t.Errorf("a write without a database: %d, want 503", p.StatusCode())
		}
	}
	x.prom.pass(7*minute, write)
	x.prom.fires("FairleadDatabaseUnreachable", "FairleadFleetsUnconfirmed", "FairleadLeaseLost", "FairleadDeaf", "FairleadAPIErrors")

	world.Must(t, pg.Restart(t.Context()))
	x.prom.over("xds-1", unconf, lease, heard)
	x.AwaitACKed(x.Put(world.Cluster("a", "2s")), 1)
	x.prom.pass(6*minute, func() { x.Node("n1") })
	x.prom.fires()
}

// TestServersStop: of two xDS servers one, then both, then the API server. Each is started again.
func TestServersStop(t *testing.T) {
	t.Parallel()
	x := watch(t, world.New(t))
	second := x.XDS()
	x.prom.watchXDS("xds-2", second)
	x.prom.process("api-1", "xds-1")
	x.well()

	second.Kill()
	x.prom.pass(6 * minute)
	x.prom.fires("FairleadServerDown")
	x.xds.Kill()
	x.Server.Kill()
	x.prom.pass(6 * minute)
	x.prom.fires("FairleadServerDown", "FairleadNoServer")

	x.prom.watchXDS("xds-1", x.XDS())
	x.prom.watchXDS("xds-2", x.XDS())
	x.prom.watchAPI("api-1", x.StartAPI("--listen", world.AnyPort, "--database-url", x.DB.App))
	x.prom.pass(minute)
	x.prom.fires()
}

// TestNodesRefuse: a real Envoy refuses a cluster. It is corrected; the next one is taken back.
func TestNodesRefuse(t *testing.T) {
	t.Parallel()
	x := watch(t, world.New(t))
	x.envoy()
	x.well()
	before := x.Put(world.Cluster("a", "2s"))
	for _, c := range []struct {
		timeout string // of what is refused: no content is sent twice to who refused it
		fix     func()
	}{
		{"3s", func() { x.Put(world.Cluster("a", "3s")) }},
		{"4s", func() {
			r, err := x.REST.RollbackWithResponse(t.Context(), x.Tenant, x.Fleet, nil, client.RollbackRequest{Revision: before})
			x.Made(r, err)
		}},
	} {
		x.AwaitRejected(x.Put(world.Cluster("a", c.timeout).With("lb_policy: CLUSTER_PROVIDED")))
		x.prom.value("xds-1", some, "fairlead_fleet_streams_refusing")
		x.prom.pass(6 * minute)
		x.prom.fires("FairleadNodesRefuse")
		c.fix()
		x.prom.value("xds-1", none, "fairlead_fleet_streams_refusing")
		x.prom.pass(minute)
		x.prom.fires()
	}
}

// TestFleetBehind: a proxy does not answer, as what it is sent does not arrive. It is connected anew.
func TestFleetBehind(t *testing.T) {
	t.Parallel()
	x := watch(t, world.New(t))
	x.envoy()
	x.well()
	x.tap.HoldBack(func(world.Sent) time.Duration { return time.Hour })
	revision := x.Put(world.Cluster("a", "4s"))
	x.prom.lasts("xds-1", behind)
	x.prom.pass(7 * minute)
	x.prom.fires("FairleadFleetBehind")
	x.tap.HoldBack(nil)
	x.tap.Cut()
	x.prom.over("xds-1", behind)
	x.AwaitACKed(revision, 1)
	x.prom.pass(2 * minute)
	x.prom.fires()
}

// TestSecretsSealed: an API server has the public key of another pair. What it wrote is written again by one that has the right key.
func TestSecretsSealed(t *testing.T) {
	t.Parallel()
	x := watch(t, world.New(t))
	secret := func() string {
		cert, key := world.Certificate(t)
		body, err := json.Marshal(map[string]any{"name": "server", "tls_certificate": map[string]any{
			"certificate_chain": map[string]string{"inline_string": string(cert)}, "private_key": map[string]string{"inline_string": string(key)},
		}})
		world.Must(t, err)
		return world.Together(world.NewResource("secrets", "server", string(body)))
	}
	x.Apply(secret())
	x.Apply(world.Together(world.HTTPListener{Name: "tls", Address: world.FreePort(t), Routes: world.RDS("r", world.ADS), TLS: fmt.Sprintf(`transport_socket: {name: tls, typed_config: {
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext, common_tls_context: {tls_certificate_sds_secret_configs: [{name: server, sds_config: %s}]}}},`, world.ADS)}.Resource()))
	x.envoy()
	x.well()

	world.Run(t, "api", "keys", "--api-dir", x.Path("other", "api"), "--xds-dir", x.Path("other", "xds"))
	wrong := x.Start("api", "serve", "--listen", world.AnyPort, "--database-url", x.DB.App,
		"--seal-public-key", x.Path("other", "api", seal.PublicFile), "--version-key", x.Path("keys", "api", seal.VersionFile))
	other := *x.World
	other.API = "http://" + wrong.Logged("the port is open", "address")
	world.AwaitOK(t, other.API+"/healthz")
	next := secret()
	world.Eventually(t, 2*world.Soon, "the API server does not answer", func() bool {
		code, _ := world.Get(other.API + "/v1/whoami")
		return code == http.StatusUnauthorized
	})
	other.REST = other.As(x.Token)
	other.Apply(next)
	x.prom.value("xds-1", some, "fairlead_xds_streams_withheld", "sealed")
	x.prom.pass(6 * minute)
	x.prom.fires("FairleadSecretsSealed")

	x.AwaitACKed(x.Apply(next), 1)
	x.prom.value("xds-1", none, "fairlead_xds_streams_withheld", "sealed")
	x.prom.pass(minute)
	x.prom.fires()
}

// ask opens a stream with a token, and returns how it ended before the first response, or a stream that has one.
func (x *watched) ask(ctx context.Context, token, node string) error {
	s, err := discoveryv3.NewAggregatedDiscoveryServiceClient(x.Dial(x.xds.Address)).StreamAggregatedResources(world.WithToken(ctx, token))
	world.Must(x.T, err)
	_ = s.Send(&discoveryv3.DiscoveryRequest{Node: &corev3.Node{Id: node}, TypeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster"})
	_, err = s.Recv()
	return err
}

// TestCredentialsRefused: a proxy goes on with a token that was revoked. It is given another one.
func TestCredentialsRefused(t *testing.T) {
	t.Parallel()
	x := watch(t, world.New(t))
	x.well()
	token, id := x.Credential()
	c, err := x.REST.RevokeCredentialWithResponse(t.Context(), x.Tenant, x.Fleet, id)
	x.Made(c, err)
	comes := func() {
		if err := x.ask(t.Context(), token, "n1"); status.Code(err) != codes.Unauthenticated {
			t.Fatalf("a revoked token: %v", err)
		}
	}
	x.prom.pass(13*minute, comes)
	x.prom.fires("FairleadCredentialsRefused")

	token, _ = x.Credential()
	world.Must(t, x.ask(t.Context(), token, "n1"))
	x.prom.pass(11 * minute)
	x.prom.fires()
}

// TestCertificateEnds: in an hour. A new one is put in its place, and no server is restarted.
func TestCertificateEnds(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	args, _ := w.TLS()
	x := watch(t, w, args...)
	x.prom.pass(11 * minute)
	x.prom.fires("FairleadCertificateEnds")
	world.Run(t, "api", "certs", "--authority", x.Path("ca"), "--for", x.Path("new")+":-1:localhost")
	for _, file := range []string{"tls.key", "tls.crt"} {
		world.Must(t, os.Rename(x.Path("new", file), x.Path(file)))
	}
	x.prom.value("xds-1", func(end float64) bool { return time.Until(time.Unix(int64(end), 0)) > 300*24*time.Hour }, "fairlead_certificate_expiry_timestamp_seconds")
	x.prom.pass(minute)
	x.prom.fires()
}

// TestTokensEnd: an operator's and a node's, of which the next ones are created as their pages say.
func TestTokensEnd(t *testing.T) {
	t.Parallel()
	x := watch(t, world.New(t))
	soon := time.Now().Add(3 * 24 * time.Hour)
	credential, err := x.REST.CreateCredentialWithResponse(t.Context(), x.Tenant, x.Fleet, client.CredentialCreate{Nodes: "n1", ExpiresAt: &soon})
	x.Made(credential, err)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	world.Must(t, x.ask(ctx, credential.JSON201.Token, "n1"))
	x.prom.value("xds-1", some, "fairlead_node_credential_next_expiry_timestamp_seconds")

	first, err := x.As(x.Operator).ListOperatorTokensWithResponse(t.Context(), nil)
	x.Made(first, err)
	next, err := x.As(x.Operator).CreateOperatorTokenWithResponse(t.Context(), client.OperatorTokenCreate{Name: "soon", ExpiresAt: &soon})
	x.Made(next, err)
	gone, err := x.As(x.Operator).RevokeOperatorTokenWithResponse(t.Context(), first.JSON200.Items[0].Id)
	x.Made(gone, err)
	looksAnew := func() { // a server looks when it begins, and then every five minutes
		s := x.StartAPI("--listen", world.AnyPort, "--database-url", x.DB.App)
		x.prom.watchAPI("api-1", s)
		x.prom.value("api-1", some, "fairlead_operator_token_last_expiry_timestamp_seconds")
	}
	looksAnew()
	x.prom.pass(11 * minute)
	x.prom.fires("FairleadNodeCredentialEnds", "FairleadOperatorTokenEnds")

	last, err := x.As(next.JSON201.Token).CreateOperatorTokenWithResponse(t.Context(), client.OperatorTokenCreate{Name: "next"})
	x.Made(last, err)
	looksAnew()
	renewed, err := x.REST.RenewCredentialWithResponse(t.Context(), x.Tenant, x.Fleet, credential.JSON201.Credential.Id, client.CredentialRenew{})
	x.Made(renewed, err)
	revoked, err := x.REST.RevokeCredentialWithResponse(t.Context(), x.Tenant, x.Fleet, credential.JSON201.Credential.Id)
	x.Made(revoked, err)
	world.Must(t, x.ask(ctx, renewed.JSON201.Token, "n1"))
	x.prom.value("xds-1", func(end float64) bool { return end == 0 || time.Until(time.Unix(int64(end), 0)) > 30*24*time.Hour }, "fairlead_node_credential_next_expiry_timestamp_seconds")
	x.prom.pass(minute)
	x.prom.fires()
}

// TestStreamsNearLimit: four streams of four. Two of them go to another server.
func TestStreamsNearLimit(t *testing.T) {
	t.Parallel()
	x := watch(t, world.New(t), "--max-streams", "4", "--max-streams-per-tenant", "4", "--max-streams-per-credential", "4")
	x.well()
	var leave []context.CancelFunc
	for i := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		world.Must(t, x.ask(ctx, x.NodeToken, fmt.Sprint("n", i)))
		leave = append(leave, cancel)
	}
	x.prom.pass(11 * minute)
	x.prom.fires("FairleadStreamsNearLimit")
	leave[0]()
	leave[1]()
	x.prom.value("xds-1", func(n float64) bool { return n == 2 }, "fairlead_xds_streams{")
	x.prom.pass(minute)
	x.prom.fires()
}

// TestAuditNotTaken: the collector answers 500, and then takes it.
func TestAuditNotTaken(t *testing.T) {
	t.Parallel()
	x := watch(t, world.New(t))
	var fixed atomic.Bool
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if !fixed.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(collector.Close)
	world.Must(t, os.WriteFile(x.Path("webhook.key"), []byte(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))+"\n"), 0o600))
	x.prom.watchAPI("api-2", x.StartAPI("--listen", world.AnyPort, "--database-url", x.DB.App, "--audit-webhook", collector.URL, "--audit-webhook-key-file", x.Path("webhook.key")))
	x.prom.value("api-2", some, "fairlead_audit_failing_tenants")
	x.prom.pass(16 * minute)
	x.prom.fires("FairleadAuditNotTaken")
	fixed.Store(true)
	x.prom.value("api-2", none, "fairlead_audit_failing_tenants")
	x.prom.pass(minute)
	x.prom.fires()
}
