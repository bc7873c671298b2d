package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	client "fairlead/clients/go"
	"fairlead/internal/auth"
	"fairlead/internal/envoyversion"
	"fairlead/internal/httpapi/oapi"
)

// apiSeen is what was seen of the API.
type apiSeen struct {
	link          link
	proxy         *url.URL // nil: none is in between
	date          string   // of its first answer
	who           client.Whoami
	tenant, fleet string
	nodes         []client.Node
	more          bool // there are more nodes
	findings      []client.Finding
}

func apiChecks() []Check {
	const way, reach, shakes, answers, token, fleet = "api.proxy", "api.tcp", "api.tls", "api.answers", "api.token", "api.fleet"
	return []Check{
		{way, "an HTTP proxy of the environment answers, if there is one on the way", nil, checkAPIProxy},
		{"api.dns", "the name of the API can be resolved", []string{way}, direct(func(ctx context.Context, x *examination) Result { return x.api.link.checkDNS(ctx) })},
		{reach, "the API takes connections", []string{"api.dns"}, direct(func(ctx context.Context, x *examination) Result { return x.api.link.checkTCP(ctx) })},
		{shakes, "both sides speak TLS, or neither", []string{reach}, direct(func(ctx context.Context, x *examination) Result { return x.api.link.checkTLS(ctx, "the URL") })},
		{"api.tls_chain", "the certificate is of an authority that this machine trusts", []string{shakes}, func(_ context.Context, x *examination) Result { return x.api.link.checkChain() }},
		{"api.tls_name", "the certificate is for the name in the URL", []string{shakes}, func(_ context.Context, x *examination) Result { return x.api.link.checkName() }},
		{"api.tls_time", "the certificate has begun, and does not end soon", []string{shakes}, func(_ context.Context, x *examination) Result { return x.api.link.checkTime(x.Now()) }},
		{answers, "it is Fairlead's API that answers, not an xDS server or something else", []string{way}, checkAnswers},
		{"api.ready", "the API server is ready: its database answers and has room, and an xDS server has its key", []string{answers}, checkReady},
		{"api.clock", "the clocks of the API server and of this machine agree", []string{answers}, func(_ context.Context, x *examination) Result {
			return checkClock(x.api.date, x.Now(), "the API server's")
		}},
		{"api.contract", "the server has all operations that this program knows", []string{answers}, checkContract},
		{token, "the API takes the token", []string{answers}, checkAPIToken},
		{"api.token_ends", "the token does not end soon", []string{token}, checkTokenEnds},
		{fleet, "the tenant and the fleet are there, and the token is valid for them", []string{token}, checkFleet},
		{"api.nodes", "nodes are connected", []string{fleet}, checkNodes},
		{"api.refusals", "no node refuses something, or keeps what it had", []string{"api.nodes"}, checkRefusals},
		{"api.findings", "the fleet has no findings", []string{fleet}, checkFindings},
		{"api.envoys", "the Envoys are of versions that are tested, and have what the content needs", []string{"api.nodes", "api.findings"}, checkEnvoys},
	}
}

// direct is for what is looked at where no proxy is in between.
func direct(run func(context.Context, *examination) Result) func(context.Context, *examination) Result {
	return func(ctx context.Context, x *examination) Result {
		if x.api.proxy != nil {
			return notChecked("the way goes through the proxy " + x.api.proxy.Host)
		}
		return run(ctx, x)
	}
}

func checkAPIProxy(ctx context.Context, x *examination) Result {
	u := x.API.URL
	x.hide(x.API.Token.Reveal())
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	x.api.link = link{
		addresses: []string{net.JoinHostPort(u.Hostname(), port)}, tls: u.Scheme == "https", name: u.Hostname(), alpn: []string{"http/1.1"},
		rename: "give a name of the certificate in the URL (--server, FAIRLEAD_URL)", trusting: " (SSL_CERT_FILE)",
	}
	p, err := proxyFor(x.Env, u)
	const do = "correct HTTPS_PROXY or HTTP_PROXY, or name the host in NO_PROXY"
	switch {
	case err != nil:
		return failed(err.Error(), do)
	case p == nil:
		return ok("the environment has no proxy for " + u.Host)
	}
	if password, has := p.User.Password(); has {
		x.hide(password)
	}
	conn, err := dial(ctx, proxyAddress(p))
	if err != nil {
		return failed("the environment leads to the proxy "+p.Host+", and "+tcpWords(proxyAddress(p), err), do)
	}
	_ = conn.Close() // nothing was said
	x.api.proxy = p
	return ok("the way goes through the proxy " + p.Host)
}

func checkAnswers(ctx context.Context, x *examination) Result {
	for _, before := range []string{"api.dns", "api.tcp", "api.tls", "api.tls_chain", "api.tls_name", "api.tls_time"} {
		if x.results[before].State == Failed {
			return notChecked("it needs " + before)
		}
	}
	const do = "give the URL of an API server (--server, FAIRLEAD_URL), without a path unless a proxy before it has one"
	got, err := x.get(ctx, "/healthz")
	if err != nil {
		return failed("there is no answer: "+inner(err), "see whether the server runs, and what is on the way")
	}
	x.api.date = got.header.Get("Date")
	text := strings.TrimSpace(string(got.body))
	switch {
	case got.code == http.StatusOK && strings.HasPrefix(text, "ok"):
		return ok("the API answers")
	case strings.Contains(text, pollPrefix):
		return failed(x.API.URL.Host+" is an xDS server, not the API", do)
	}
	return failed(fmt.Sprintf("%s answers %s, and not as the API does", x.API.URL.Host, got.status), do)
}

// pollPrefix stands in what an xDS server answers to paths that it does not know.
const pollPrefix = "/v3/discovery:"

func checkReady(ctx context.Context, x *examination) Result {
	got, err := x.get(ctx, "/readyz")
	switch {
	case err != nil:
		return failed("there is no answer: "+inner(err), "see the API server's log")
	case got.code != http.StatusOK:
		return failed(strings.TrimSpace(string(got.body)), "fix what it names; \"fairlead doctor --database\" on a server tells more of the database")
	}
	return ok("ready")
}

func checkContract(ctx context.Context, x *examination) Result {
	got, err := x.get(ctx, "/openapi.yaml")
	var server, own struct {
		Info  struct{ Version string }
		Paths map[string]map[string]any
	}
	raw, specErr := oapi.GetSpecJSON()
	if err = errors.Join(err, specErr); err == nil {
		err = errors.Join(yaml.Unmarshal(got.body, &server), json.Unmarshal(raw, &own))
	}
	if err != nil || len(server.Paths) == 0 {
		return warn("the server's contract cannot be read", "see that GET /openapi.yaml is let through")
	}
	var lacks []string
	for path, methods := range own.Paths {
		for m := range methods {
			if _, there := server.Paths[path][m]; !there && m != "parameters" {
				lacks = append(lacks, strings.ToUpper(m)+" "+path)
			}
		}
	}
	if len(lacks) > 0 {
		slices.Sort(lacks)
		return warn(fmt.Sprintf("the server, of contract %s, is older than this program: it lacks %d operations, such as %s", server.Info.Version, len(lacks), lacks[0]),
			"bring the server to this program's version, or use the program of the server's")
	}
	return ok("contract " + server.Info.Version)
}

func checkAPIToken(ctx context.Context, x *examination) Result {
	const do = "give the token whole, on one line (FAIRLEAD_TOKEN, --token-file); an owner makes a new one with \"fairlead token create\""
	if _, _, err := auth.ParseAPIToken(x.API.Token.Reveal()); err != nil {
		return failed(strings.TrimSuffix(err.Error(), ": unauthenticated"), do)
	}
	who, err := read[client.Whoami](ctx, x, "/v1/whoami")
	var said *refusal
	switch {
	case errors.As(err, &said) && said.Status >= http.StatusInternalServerError:
		return notChecked("the API cannot tell now: " + err.Error())
	case err != nil:
		return failed("the API refuses the token: "+err.Error(), do)
	}
	x.api.who, x.api.tenant, x.api.fleet = who, x.API.Tenant, x.API.Fleet
	if x.api.tenant == "" && who.Tenant != nil {
		x.api.tenant = *who.Tenant
	}
	if x.api.fleet == "" && who.Fleet != nil {
		x.api.fleet = *who.Fleet
	}
	if who.Kind == client.WhoamiKindOperator {
		return ok(fmt.Sprintf("%s, an operator", who.Name))
	}
	return ok(fmt.Sprintf("%s, role %s of %s", who.Name, deref(who.Role), deref(who.Tenant)))
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func checkTokenEnds(_ context.Context, x *examination) Result {
	at := x.api.who.ExpiresAt
	switch {
	case at == nil:
		return ok("it does not end")
	case at.Sub(x.Now()) < endsSoon:
		return warn("it ends at "+stamp(*at), "make its next one before (\"fairlead token create\"), and give that to whoever has this one")
	}
	return ok("it is good until " + stamp(*at))
}

// below is a path of the fleet.
func (x *examination) below(path string) string {
	return "/v1/tenants/" + url.PathEscape(x.api.tenant) + "/fleets/" + url.PathEscape(x.api.fleet) + path
}

func checkFleet(ctx context.Context, x *examination) Result {
	if x.api.tenant == "" || x.api.fleet == "" {
		return notChecked("no tenant and fleet are given: --tenant and --fleet")
	}
	if of := deref(x.api.who.Tenant); of != "" && of != x.api.tenant {
		return failed(fmt.Sprintf("the token is of the tenant %s, and not of %s", of, x.api.tenant), "give a token of that tenant, or name this one")
	}
	if of := deref(x.api.who.Fleet); of != "" && of != x.api.fleet {
		return failed(fmt.Sprintf("the token is for the fleet %s alone, and not for %s", of, x.api.fleet), "give a token that is valid for that fleet, or name this one")
	}
	f, err := read[client.Fleet](ctx, x, x.below(""))
	if err != nil {
		return failed(fmt.Sprintf("%s/%s: %v", x.api.tenant, x.api.fleet, err), "correct --tenant and --fleet (\"fairlead fleet list\"); one that was deleted comes back for 30 days (\"fairlead fleet restore\")")
	}
	return ok(fmt.Sprintf("%s/%s is at revision %d", x.api.tenant, f.Name, f.Revision))
}

// somePages bounds what is looked at of a large fleet.
const somePages = 10

func checkNodes(ctx context.Context, x *examination) Result {
	nodes, more, err := list[client.Node](ctx, x, x.below("/nodes"), somePages)
	if err != nil {
		return failed("the nodes cannot be listed: "+err.Error(), "give a token whose role may read them")
	}
	x.api.nodes, x.api.more = nodes, more
	var offline []string
	for _, n := range nodes {
		if n.State == client.NodeStateOffline {
			offline = append(offline, n.Id)
		}
	}
	const do = "on the node: fairlead doctor --bootstrap FILE"
	switch saw := fmt.Sprintf("%d of %d nodes are offline", len(offline), len(nodes)); {
	case len(nodes) == 0:
		return warn("no node has connected to the fleet yet", do)
	case len(offline) == len(nodes):
		return failed("all nodes are offline: "+few(offline), do)
	case len(offline) > 0:
		return warn(saw+": "+few(offline), do)
	}
	return ok(fmt.Sprintf("%d connected", len(nodes)) + map[bool]string{true: ", and there are more than were looked at"}[more])
}

const named = 5

// few names some.
func few(all []string) string {
	text := strings.Join(all[:min(len(all), named)], ", ")
	if more := len(all) - named; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func checkRefusals(_ context.Context, x *examination) Result {
	var refuses []string
	for _, n := range x.api.nodes {
		for _, r := range n.Refusals {
			if r.ResolvedAt == nil {
				refuses = append(refuses, fmt.Sprintf("%s refuses %s/%s: %s", n.Id, r.Type, r.Name, r.Detail))
			}
		}
	}
	if len(refuses) > 0 {
		return failed(few(refuses), "correct what is refused, or roll back: \"fairlead nodes\" tells what stands in for it")
	}
	return ok("nothing is refused")
}

func checkFindings(ctx context.Context, x *examination) Result {
	fs, _, err := list[client.Finding](ctx, x, x.below("/findings"), somePages)
	if err != nil {
		return failed("the findings cannot be listed: "+err.Error(), "give a token whose role may read them")
	}
	x.api.findings = fs
	var bad, doubtful []string
	for _, f := range fs {
		line := string(f.Code) + " at " + string(f.Type) + "/" + f.Name
		switch f.Severity {
		case client.Error:
			bad = append(bad, line)
		case client.Warning:
			doubtful = append(doubtful, line)
		case client.Info:
		}
	}
	const do = "\"fairlead findings\" says of each what to do"
	switch {
	case len(bad) > 0:
		return failed(fmt.Sprintf("%d of severity error: %s", len(bad), few(bad)), do)
	case len(doubtful) > 0:
		return warn(fmt.Sprintf("%d of severity warning: %s", len(doubtful), few(doubtful)), do)
	}
	return ok("none that harms")
}

// ofVersions are the findings about content that an Envoy has not what it takes for.
var ofVersions = []client.FindingCode{client.NeedsContrib, client.UnservedType}

func checkEnvoys(_ context.Context, x *examination) Result {
	old, untested := map[string]bool{}, map[string]bool{}
	all := envoyversion.Supported()
	first, last := minorOf(all[0]), minorOf(all[len(all)-1])
	for _, n := range x.api.nodes {
		if deref(n.UserAgent) != "envoy" {
			continue
		}
		switch minor := minorOf(deref(n.Version)); {
		case minor == 0: // of another numbering, or it does not tell
		case minor < first:
			old[deref(n.Version)] = true
		case minor > last:
			untested[deref(n.Version)] = true
		}
	}
	var lacks []string
	for _, f := range x.api.findings {
		if slices.Contains(ofVersions, f.Code) {
			lacks = append(lacks, f.Detail)
		}
	}
	tested := "tested with " + strings.Join(all, ", ")
	switch {
	case len(lacks) > 0:
		return failed(few(lacks), "change the content, or the Envoys: \"fairlead findings\" tells all")
	case len(old) > 0:
		return warn("Envoys of "+names(old)+" are connected, and Fairlead is "+tested, "upgrade them: an older Envoy may refuse content (docs/envoy-versions.md)")
	case len(untested) > 0:
		return warn("Envoys of "+names(untested)+" are connected, and Fairlead is "+tested, "bring Fairlead to a version that is tested with them")
	}
	return ok(tested)
}

func names(set map[string]bool) string { return few(slices.Sorted(maps.Keys(set))) }

// minorOf is 36 of "1.36.4", 0 of what has none.
func minorOf(version string) int {
	text, is := strings.CutPrefix(envoyversion.Minor(version), "1.")
	n, err := strconv.Atoi(text)
	if !is || err != nil {
		return 0
	}
	return n
}

// checkCredentialOfFleet asks the API of the node's token, by its id.
func checkCredentialOfFleet(ctx context.Context, x *examination) Result {
	const missing = "give a server, a token, --tenant and --fleet, to see of which fleet the credential is"
	if x.API == nil {
		return notChecked(missing)
	}
	if x.node.token == "" {
		return notChecked("the bootstrap has no token")
	}
	// The API's own checks come later, and tell what is wrong with it.
	if x.api.tenant, x.api.fleet = x.API.Tenant, x.API.Fleet; x.api.tenant == "" || x.api.fleet == "" {
		return notChecked(missing)
	}
	x.hide(x.API.Token.Reveal())
	x.api.proxy, _ = proxyFor(x.Env, x.API.URL) // one that is no URL is told by api.proxy
	all, _, err := list[client.Credential](ctx, x, x.below("/credentials"), somePages)
	if err != nil {
		return notChecked("the API does not tell: " + err.Error())
	}
	of := x.api.tenant + "/" + x.api.fleet
	const do = "make one with \"fairlead credential create\", and give the node its token"
	id := x.node.credential.String()
	for _, c := range all {
		if c.Id != id {
			continue
		}
		good, err := auth.ParseNodePattern(c.Nodes)
		saw := fmt.Sprintf("the credential %s of %s, for the nodes %s,", id, of, c.Nodes)
		switch {
		case c.RevokedAt != nil:
			return failed(fmt.Sprintf("%s was revoked at %s", saw, stamp(*c.RevokedAt)), do)
		case c.ExpiresAt != nil && !c.ExpiresAt.After(x.Now()):
			return failed(fmt.Sprintf("%s ended at %s", saw, stamp(*c.ExpiresAt)), do)
		case err == nil && !good.Match(x.node.way.NodeID):
			return failed(fmt.Sprintf("%s is not valid for the node id %s", saw, x.node.way.NodeID), "set another node.id in the bootstrap, or make a credential for this one")
		case c.ExpiresAt != nil && c.ExpiresAt.Sub(x.Now()) < endsSoon:
			return warn(fmt.Sprintf("%s ends at %s", saw, stamp(*c.ExpiresAt)), "renew it (fairlead credential renew "+id+"), and give the node the new token")
		case c.ExpiresAt != nil:
			return ok(saw + " is good until " + stamp(*c.ExpiresAt))
		}
		return ok(saw + " does not end")
	}
	return failed("the credential "+id+" is none of the fleet "+of+": the node would be another fleet's", "give the node a token of that fleet, or name the fleet that it belongs to")
}
