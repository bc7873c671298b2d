package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"google.golang.org/grpc"

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
		{"node.node_id", "the token is valid for this node id", []string{"node.credential"}, checkNodeID},
		{"node.stream", "the proxy has a stream, and refuses nothing", []string{"node.node_id"}, checkStream},
		{"node.fleet", "the token is one of the fleet's, is valid for the node id and does not end soon", []string{"node.token"}, checkCredentialOfFleet},
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
	return warn("the environment has the proxy "+p.Host+", which an Envoy ignores: it goes to "+address+" directly", "open a direct way from the node to "+address+", or end the tunnel of the proxy on this machine")
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
