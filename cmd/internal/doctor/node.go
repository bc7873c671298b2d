package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
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

	"fairlead/internal/auth"
	"fairlead/internal/bootstrap"
	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
)

// nodeSeen is what was seen of the way of a proxy.
type nodeSeen struct {
	way        bootstrap.Way
	token      string
	credential fleet.CredentialID
	link       link
	conn       *grpc.ClientConn
}

func (n *nodeSeen) hangUp() {
	if n.conn != nil {
		_ = n.conn.Close() // its calls have ended
	}
}

func nodeChecks() []Check {
	const boot, reach, shakes, trust, named = "node.bootstrap", "node.tcp", "node.tls", "node.tls_chain", "node.tls_name"
	return []Check{
		{boot, "the bootstrap can be read, leads to an xDS server, names the node, and is not an old one", nil, checkBootstrap},
		{"node.token", "the node token is where the bootstrap says, whole, and not an API token", []string{boot}, checkNodeToken},
		{"node.call_creds", "a gRPC client is told to send its token", []string{boot}, checkCallCreds},
		{"node.proxy", "no HTTP proxy of the environment stands in the way", []string{boot}, checkNodeProxy},
		{"node.file_limit", "the proxy may open enough files", nil, checkFileLimit},
		{"node.dns", "the names of the xDS servers can be resolved", []string{boot}, func(ctx context.Context, x *examination) Result { return x.node.link.checkDNS(ctx) }},
		{reach, "the xDS servers take connections", []string{"node.dns"}, func(ctx context.Context, x *examination) Result { return x.node.link.checkTCP(ctx) }},
		{shakes, "both sides speak TLS, or neither", []string{reach}, func(ctx context.Context, x *examination) Result { return x.node.link.checkTLS(ctx, "the bootstrap") }},
		{trust, "the certificate is of an authority that the proxy trusts", []string{shakes}, func(_ context.Context, x *examination) Result { return x.node.link.checkChain() }},
		{named, "the certificate is for the name that the proxy wants", []string{shakes}, func(_ context.Context, x *examination) Result { return x.node.link.checkName() }},
		{"node.tls_time", "the certificate has begun, and does not end soon", []string{shakes}, func(_ context.Context, x *examination) Result { return x.node.link.checkTime(x.Now()) }},
		{"node.alpn", "the server offers HTTP/2 (h2) to a client of gRPC", []string{shakes}, checkALPN},
		{"node.protocol", "an xDS server answers, and in the protocol of the bootstrap: not the API, nor a port of REST alone", []string{shakes}, checkProtocol},
		{"node.clock", "the clocks of the server and of this machine agree", []string{"node.protocol"}, checkNodeClock},
		{"node.credential", "the server takes the node token", []string{"node.protocol", "node.token"}, checkCredential},
		{"node.node_id", "the token is good for this node id", []string{"node.credential"}, checkNodeID},
		{"node.stream", "the proxy has a stream, and refuses nothing", []string{"node.node_id"}, checkStream},
		{"node.fleet", "the token is one of the fleet's, is good for the node id and does not end soon", []string{"node.token"}, checkCredentialOfFleet},
	}
}

func checkBootstrap(_ context.Context, x *examination) Result {
	const write = "write it with \"fairlead bootstrap\", and start the client with that"
	text, err := os.ReadFile(x.Bootstrap)
	if err != nil {
		return failed("the bootstrap cannot be read: "+err.Error(), "name the file that the client starts with, and run as somebody who may read it")
	}
	w, err := bootstrap.ReadWay(text)
	x.hide(w.Token)
	if err != nil {
		return failed(x.Bootstrap+": "+fleet.Sentence(err), write)
	}
	x.node.way = w
	l := link{addresses: w.Addresses, tls: !w.Plaintext, ca: w.CA, caFile: w.CAFile, sni: w.SNI, name: w.ServerName, alpn: []string{"h2"}}
	if w.REST {
		l.alpn = []string{"http/1.1"}
	}
	x.node.link = l
	saw := fmt.Sprintf("%s of %s leads to %s", map[bool]string{true: "a gRPC client", false: "an Envoy"}[w.Client == bootstrap.ClientGRPC], x.Bootstrap, strings.Join(w.Addresses, ", "))
	switch {
	case w.NodeID == "":
		return failed(saw+", and has no node.id", "set node.id in the bootstrap, or start Envoy with --service-node")
	case w.Old():
		return warn(saw+", and does not say that it keeps the token from what is routed", "it is old, or is not of Fairlead: "+write+" (docs/findings.md tells of old_bootstrap)")
	}
	return ok(saw + " as " + w.NodeID)
}

func checkNodeToken(_ context.Context, x *examination) Result {
	text, where, r := x.readNodeToken()
	x.hide(strings.TrimSpace(text))
	if r != nil {
		return *r
	}
	const do = "make one with \"fairlead credential create\", and write it there whole, on one line"
	token := strings.TrimSpace(text)
	if token == "" {
		return failed(where+" holds no token", do)
	}
	id, err := auth.ParseNodeToken(token)
	if err != nil {
		return failed(where+": "+fleet.Sentence(err), do)
	}
	x.node.token, x.node.credential = token, id
	saw := "credential " + id.String() + ", from " + where
	switch newline := strings.HasSuffix(text, "\n") && x.node.way.TokenFile != ""; {
	case text != token && !newline:
		return failed(where+" has spaces around the token", "write the token alone, without a newline")
	case newline && x.node.way.Client != bootstrap.ClientEnvoy && x.node.way.Client != bootstrap.ClientRelay:
		return failed(saw+", which ends in a newline: the client opens no stream, and does not say why", "write the token without a newline")
	case newline:
		return warn(saw+", which ends in a newline: an Envoy before "+envoyversion.Since(envoyversion.TokenNewline)+" opens no stream, and does not say why", "write the token without a newline")
	}
	return ok(saw)
}

// readNodeToken returns what is there, and in words where that is.
func (x *examination) readNodeToken() (text, where string, wrong *Result) {
	fail := func(saw, do string) (string, string, *Result) { r := failed(saw, do); return "", "", &r }
	w := &x.node.way
	if w.TokenSDSFile != "" {
		raw, err := os.ReadFile(w.TokenSDSFile)
		if err != nil {
			return fail("the file through which Envoy reads the token cannot be read: "+err.Error(), "write it as \"fairlead bootstrap --token-file\" tells, readable by Envoy")
		}
		file, token, err := bootstrap.ReadTokenSDS(raw, w.TokenSDSFile)
		if err != nil {
			return fail(fleet.Sentence(err), "write it as \"fairlead bootstrap --token-file\" tells")
		}
		if w.TokenFile = file; token != "" {
			return token, w.TokenSDSFile, nil
		}
	}
	switch {
	case w.Token != "":
		return w.Token, "the bootstrap", nil
	case w.TokenFile != "":
		raw, err := os.ReadFile(w.TokenFile)
		if err != nil {
			return fail("the token file cannot be read: "+err.Error(), "write the node token there, readable by the client, or correct the path in the bootstrap")
		}
		return string(raw), w.TokenFile, nil
	case w.TokenEnv != "":
		if v := x.Env(w.TokenEnv); v != "" {
			return v, "the variable " + w.TokenEnv, nil
		}
		return fail("the variable "+w.TokenEnv+" is not set here", "set it to the node token, for the client and for this check")
	case w.Plaintext:
		r := ok("the bootstrap has none, for a relay or a port that asks for none")
		return "", "", &r
	}
	return fail("the bootstrap says nothing of a token", "write it again with \"fairlead bootstrap --token-file\" or --token-env")
}

func checkCallCreds(_ context.Context, x *examination) Result {
	switch w := x.node.way; {
	case w.Client != bootstrap.ClientGRPC:
		return notChecked("it is for gRPC clients")
	case w.TokenFile == "":
		return notChecked("the bootstrap has no token")
	}
	if x.Env(bootstrap.CallCredsVariable) != "true" {
		return failed(bootstrap.CallCredsVariable+" is not \"true\" here: the client sends no token, and does not say so", "start the client with "+bootstrap.CallCredsVariable+"=true")
	}
	return ok(bootstrap.CallCredsVariable + " is set here; the client needs it in its own environment")
}

func checkNodeProxy(_ context.Context, x *examination) Result {
	address := x.node.way.Addresses[0]
	p, err := proxyFor(x.Env, &url.URL{Scheme: "https", Host: address})
	switch {
	case err != nil:
		return warn(err.Error(), "correct HTTPS_PROXY, or unset it")
	case p == nil:
		return ok("the environment has no proxy for " + address)
	case x.node.way.Client == bootstrap.ClientGRPC:
		return warn("a gRPC client with this environment goes to "+address+" through the proxy "+p.Host, "name "+hostOf(address)+" in NO_PROXY, unless that is the way")
	}
	return warn("the environment has the proxy "+p.Host+", of which an Envoy takes no notice: it goes to "+address+" directly", "open a direct way from the node to "+address+", or end the tunnel of the proxy on this machine")
}

// fewFiles is the least number of files that a proxy should be able to open: each connection takes one, on both sides.
const fewFiles = 4096

func checkFileLimit(_ context.Context, x *examination) Result {
	pids := []int{x.PID}
	if x.PID == 0 {
		if pids = envoys(); len(pids) == 0 {
			return notChecked("no process is called envoy here: name the proxy's with --pid")
		}
	}
	worst := notChecked("the limits of the proxy's process cannot be read")
	for _, pid := range pids {
		limit, used, err := filesOf(pid)
		if err != nil {
			continue
		}
		saw := fmt.Sprintf("process %d may open %d files", pid, limit)
		if used > 0 {
			saw += fmt.Sprintf(", and has %d open", used)
		}
		const do = "raise it: LimitNOFILE= of systemd, ulimit -n, or --ulimit nofile of Docker"
		switch {
		case used*10 >= limit*9:
			return failed(saw, do)
		case limit < fewFiles:
			worst = warn(saw, do)
		case worst.State == NotChecked:
			worst = ok(saw)
		}
	}
	return worst
}

// envoys are the processes of that name.
func envoys() (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil // there is no /proc
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if name, err := os.ReadFile("/proc/" + e.Name() + "/comm"); err == nil && strings.TrimSpace(string(name)) == "envoy" {
			pids = append(pids, pid)
		}
	}
	return pids
}

// filesOf reads how many files a process may open, and how many it has open: 0 where that is not to be seen.
func filesOf(pid int) (limit, used int, err error) {
	at := "/proc/" + strconv.Itoa(pid)
	text, err := os.ReadFile(at + "/limits")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, is := strings.CutPrefix(line, "Max open files"); is {
			if limit, err = strconv.Atoi(strings.Fields(rest)[0]); err != nil {
				limit = 1 << 30 // "unlimited"
			}
		}
	}
	if open, err := os.ReadDir(at + "/fd"); err == nil {
		used = len(open)
	}
	if limit == 0 {
		return 0, 0, errors.New("no limit is told")
	}
	return limit, used, nil
}

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
		_ = stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: x.node.way.NodeID, UserAgentName: "fairlead-doctor"}}) // Recv tells why it failed
		_, err = stream.Recv()
	}
	switch s := status.Convert(err); {
	case s.Code() == codes.InvalidArgument && strings.Contains(s.Message(), "type_url"):
		return ok("the token is good for the node id " + x.node.way.NodeID)
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
