package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
)

func checkALPN(_ context.Context, x *examination) Result {
	switch l := x.node.link; {
	case !l.tls:
		return notChecked(noTLS)
	case x.node.way.REST:
		return notChecked("an Envoy that polls needs no HTTP/2")
	case l.chosen != "h2":
		return failed(l.reached+" does not offer h2", "name the port of the xDS servers, not that of the API; a load balancer in between has to offer h2, or to pass TCP on")
	}
	return ok("h2")
}

// web asks the server over HTTP/1.1, without a token.
func (x *examination) web(ctx context.Context, path string) (answer, error) {
	l := x.node.link
	scheme := "http"
	if l.tls {
		scheme = "https"
	}
	t := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, l.reached) },
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true, ServerName: l.serverName(), NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12}, //nolint:gosec // no secret is sent
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+l.reached+path, http.NoBody)
	if err != nil {
		return answer{}, err
	}
	got, err := fetched(&http.Client{Transport: t, Timeout: dialPatience}, r, 4<<10)
	if got.code != 0 { // the status says enough
		err = nil
	}
	return got, err
}

// dialGRPC opens a connection. Without trust it believes any certificate, and no token may be sent.
func (x *examination) dialGRPC(trust bool) (*grpc.ClientConn, error) {
	l := x.node.link
	creds := insecure.NewCredentials()
	if l.tls {
		conf := &tls.Config{InsecureSkipVerify: true, ServerName: l.serverName(), MinVersion: tls.VersionTLS12} //nolint:gosec // VerifyConnection does, where a token is sent
		if trust {
			conf.VerifyConnection = func(s tls.ConnectionState) error { return l.trusts(s.PeerCertificates) }
		}
		creds = credentials.NewTLS(conf)
	}
	return grpc.NewClient("passthrough:///"+l.reached, grpc.WithTransportCredentials(creds), grpc.WithNoProxy(), grpc.WithAuthority(l.serverName()))
}

// trusts holds a chain to what the client holds it to.
func (l link) trusts(chain []*x509.Certificate) error {
	roots, _, err := l.roots()
	if err != nil {
		return err
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	if _, err = chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between}); err != nil || l.name == "" {
		return err
	}
	return chain[0].VerifyHostname(l.name)
}

const (
	pollPath   = "/v3/discovery:clusters"
	pollAnswer = "a poll is a POST" // of an xDS server, to whoever GETs that
)

func checkProtocol(ctx context.Context, x *examination) Result {
	l := x.node.link
	got, err := x.web(ctx, pollPath)
	polls := err == nil && strings.Contains(string(got.body), pollAnswer)
	if x.node.way.REST {
		if polls {
			return ok(l.reached + " answers polls over REST")
		}
		return x.stranger(ctx)
	}
	conn, err := x.dialGRPC(false)
	if err != nil {
		return failed(l.reached+": "+err.Error(), "correct the address in the bootstrap")
	}
	defer conn.Close() //nolint:errcheck // its one call has ended
	health, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	switch {
	case err == nil && health.GetStatus() != healthpb.HealthCheckResponse_SERVING:
		return warn(l.reached+" is stopping: it takes no new streams", "wait for the next server; a load balancer should send no more clients there")
	case err == nil:
		return ok(l.reached + " answers gRPC")
	case polls:
		return failed(l.reached+" answers polls over REST, and no gRPC", "name the port of --listen, not that of --rest-listen; or write the bootstrap with --api rest")
	}
	return x.stranger(ctx)
}

// stranger tells what it is that answers in place of an xDS server.
func (x *examination) stranger(ctx context.Context) Result {
	l := x.node.link
	if got, err := x.web(ctx, "/v1/whoami"); err == nil {
		if strings.HasPrefix(got.header.Get("Content-Type"), "application/problem+json") {
			return failed(l.reached+" is the API, not an xDS server", "name the address of an xDS server in the bootstrap (--listen of xds, 18000 by default)")
		}
		return failed(fmt.Sprintf("%s answers HTTP/1.1 (%s), and is no xDS server", l.reached, got.status), "name the address of an xDS server in the bootstrap; a load balancer in between has to speak HTTP/2 to it, or to pass TCP on")
	}
	return failed(l.reached+" takes connections, and answers neither gRPC nor HTTP", "name the address of an xDS server in the bootstrap")
}

func checkNodeClock(ctx context.Context, x *examination) Result {
	got, err := x.web(ctx, pollPath)
	if err != nil {
		return notChecked("nothing that answers tells the time")
	}
	return checkClock(got.header.Get("Date"), x.Now(), "the server's")
}

// call has the node's token.
func (x *examination) call(ctx context.Context) context.Context {
	if x.node.token == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+x.node.token)
}

// status asks what the server knows of the node's own streams. It makes nobody a node.
func (x *examination) status(ctx context.Context) (*statusv3.ClientStatusResponse, error) {
	return statusv3.NewClientStatusDiscoveryServiceClient(x.node.conn).FetchClientStatus(x.call(ctx), &statusv3.ClientStatusRequest{
		ExcludeResourceContents: true,
		NodeMatchers:            []*matcherv3.NodeMatcher{{NodeId: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: x.node.way.NodeID}}}},
	})
}

func checkCredential(ctx context.Context, x *examination) Result {
	for _, before := range []string{"node.tls_chain", "node.tls_name", "node.tls_time"} {
		if x.results[before].State == Failed { // not for what was not checked: that is plaintext
			return notChecked("it needs " + before + ": the token is sent to nobody else")
		}
	}
	var err error
	if x.node.conn, err = x.dialGRPC(true); err != nil {
		return failed(x.node.link.reached+": "+err.Error(), "correct the address in the bootstrap")
	}
	_, err = x.status(ctx)
	s := status.Convert(err)
	switch {
	case err == nil && x.node.token == "":
		return ok("the server asks for no token")
	case err == nil:
		return ok("the server takes the token")
	case x.node.way.REST && s.Code() == codes.Unavailable:
		return notChecked("the port answers polls alone, and a poll would make this check a node: GET .../nodes and events tell of the proxy's own")
	case s.Code() == codes.Unauthenticated:
		return failed("the server refuses the token: "+s.Message(), "make a new one with \"fairlead credential create\", or renew it, and give it to the node; see that the server is the one whose fleet it is of")
	case s.Code() == codes.PermissionDenied:
		return failed("the server refuses the call: "+s.Message(), "let no proxy stand between, or start the xDS servers with --allow-proxied behind a load balancer")
	}
	return failed("the server does not answer: "+s.Message(), "see the xDS server's log, and check its database (fairlead doctor --database)")
}

// checkNodeID opens a stream as the node, and asks for nothing. It is refused for that before it is tied to the fleet, and after the node id was looked
// at: the fleet gets no node.
func checkNodeID(ctx context.Context, x *examination) Result {
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(x.node.conn).DeltaAggregatedResources(x.call(ctx))
	if err == nil {
		_ = stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: x.node.way.NodeID, UserAgentName: fleet.DoctorAgent}}) // Recv tells why it failed
		_, err = stream.Recv()
	}
	switch s := status.Convert(err); {
	case s.Code() == codes.InvalidArgument && strings.Contains(s.Message(), "type_url"):
		return ok("the token is valid for the node id " + x.node.way.NodeID)
	case s.Code() == codes.PermissionDenied, s.Code() == codes.InvalidArgument:
		return failed(s.Message(), "set another node.id in the bootstrap, or make a credential for this one: fairlead credential create "+strconv.Quote(x.node.way.NodeID))
	default:
		return failed("the server ends the stream: "+s.Message(), "see the xDS server's log")
	}
}

func checkStream(ctx context.Context, x *examination) Result {
	resp, err := x.status(ctx)
	if err != nil {
		return notChecked("the server does not tell: " + status.Convert(err).Message())
	}
	if len(resp.GetConfig()) == 0 {
		return notChecked(x.node.link.reached + " has no stream of the node now; it may be at another server: \"fairlead nodes " + x.node.way.NodeID + "\" tells")
	}
	var refused []string
	all := resp.GetConfig()[0].GetGenericXdsConfigs()
	for _, c := range all {
		if c.GetErrorState() != nil {
			refused = append(refused, c.GetName()+": "+c.GetErrorState().GetDetails())
		}
	}
	if len(refused) > 0 {
		return failed(fmt.Sprintf("the proxy is connected, and refuses %d of %d resources: %s", len(refused), len(all), strings.Join(refused[:min(len(refused), 3)], "; ")),
			"fix what it refuses: \"fairlead nodes "+x.node.way.NodeID+"\" tells what stands in for it")
	}
	return ok(fmt.Sprintf("the proxy is connected to %s, and has %d resources", x.node.link.reached, len(all)))
}
