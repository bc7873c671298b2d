package e2e

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/pem"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
	"fairlead/test/world"
)

// TestSoakDeletions: random fleets of all nine types, and random deletions and changes of them, beside a real Envoy of each protocol. After each step the
// Envoy has and does what the write's words and its receipt said, as a plain statement of docs/receipts.md ("What a deletion does") has it. With
// FAIRLEAD_SOAK 250 fleets of each protocol that no run had before, else the same 5. FAIRLEAD_DELETIONS=SEED plays the one fleet of that seed.
func TestSoakDeletions(t *testing.T) {
	first, rounds := uint64(1), 5
	if full() {
		first, rounds = uint64(time.Now().UnixMicro()), 250
	}
	if v := os.Getenv("FAIRLEAD_DELETIONS"); v != "" {
		var err error
		first, err = strconv.ParseUint(v, 10, 64)
		world.Must(t, err)
		rounds = 1
	}
	both(t, func(t *testing.T, delta bool) {
		f := setupFleets(t, delta)
		for seed := first; seed < first+uint64(rounds); seed++ {
			f.round(seed)
		}
		t.Logf("%d fleets from the seed %d on: %d deletions of what was named, %d writes that were withheld", rounds, first, f.named, f.kept)
		if f.named == 0 || rounds > 1 && f.kept == 0 {
			t.Error("nothing was deleted that is named, or nothing was withheld: the fleets are none to learn from")
		}
	})
}

// part is a version of a resource: what it names, and what tells it from another one.
type part struct {
	to   [2]fleet.Ref
	mark int
}

func (p part) names(ref fleet.Ref) bool { return ref.Name != "" && slices.Contains(p.to[:], ref) }

type parts map[fleet.Ref]part

func nameOf(r fleet.Ref) string { return r.Type.Slug() + "/" + r.Name }

// fleets is an Envoy and what it has by rights.
type fleets struct {
	*deletions
	random   *rand.Rand
	delta    bool
	hosts    bool // virtual hosts are fetched
	keys     [2]world.Resource
	ders     [2]string // hashes of the certificates
	backends map[string]string
	all      []fleet.Ref // that a fleet may have

	fleet, envoy parts    // the stored, and what the Envoy has of it
	steps        []string // of this round
	named, kept  int
}

func setupFleets(t *testing.T, delta bool) *fleets {
	t.Helper()
	d := &deletions{routed: &routed{installation: setup(t)}, source: world.ADS, at: map[string]string{}}
	f := &fleets{deletions: d, delta: delta, backends: map[string]string{}, fleet: parts{}, envoy: parts{}}
	d.Late = []fleet.Type{fleet.Route} // see hasty
	f.hosts = delta && envoyversion.Has(world.EnvoyVersion(), envoyversion.VirtualHosts)
	for i := range f.keys {
		cert, key := world.Certificate(t)
		f.keys[i] = secret("", cert, key)
		block, _ := pem.Decode(cert)
		f.ders[i] = sprintf("%x", sha256.Sum256(block.Bytes))
	}
	add := func(typ fleet.Type, names ...string) {
		for _, name := range names {
			f.all = append(f.all, ref(typ, name))
		}
	}
	for _, c := range []string{"a", "b", "c"} {
		add(fleet.Cluster, c)
		add(fleet.Endpoint, c)
		for i := range 2 {
			name := c + strconv.Itoa(i)
			f.backends[name] = world.Backend(t, name)
		}
	}
	add(fleet.Route, "r1", "r2", "r3")
	add(fleet.Extension, "f1", "f2")
	add(fleet.Secret, "s1", "s2")
	add(fleet.Runtime, "layer")
	add(fleet.ScopedRoute, "one", "two")
	add(fleet.Listener, "plain", "other", "filtered", "secured")
	if envoyversion.Has(world.EnvoyVersion(), envoyversion.LateScopes) {
		add(fleet.Listener, "scopes")
	}
	if f.hosts {
		add(fleet.Listener, "hosts")
		add(fleet.VirtualHost, "vhds/known")
	}
	for _, r := range f.all {
		if r.Type == fleet.Listener {
			d.at[r.Name] = world.FreePort(t)
		}
	}
	d.Apply(world.Together(emptyRoute("vhds")))
	d.xds = d.XDS()
	d.tap = world.NewTap(t, d.xds.Address)
	d.envoy = d.Launch("n1", d.tap.Address, delta, runtimeLayer("layer", world.ADS))
	world.Eventually(t, world.Soon, "not LIVE", func() bool { return live(t, d.envoy) })
	d.AwaitLive("n1")
	return f
}

// round is one fleet: written, deleted from and changed, and deleted.
func (f *fleets) round(seed uint64) {
	f.T.Helper()
	f.random, f.steps = rand.New(rand.NewPCG(seed, 0)), []string{sprintf("FAIRLEAD_DELETIONS=%d", seed)} //nolint:gosec // it is to be played again
	next := parts{}
	for _, r := range f.all {
		if f.random.IntN(8) > 0 {
			next[r] = f.another(r)
		}
	}
	f.step(next)
	for range 4 {
		next = maps.Clone(f.fleet)
		for range 1 + f.random.IntN(4) {
			r := f.all[f.random.IntN(len(f.all))]
			if _, is := next[r]; is && f.random.IntN(3) > 0 {
				delete(next, r)
			} else {
				next[r] = f.another(r)
			}
		}
		f.step(next)
	}
	f.step(parts{})
}

// another is a version that the resource did not have just before.
func (f *fleets) another(r fleet.Ref) part {
	p := part{mark: f.fleet[r].mark + 1}
	one := func(typ fleet.Type, names ...string) fleet.Ref { return ref(typ, names[f.random.IntN(len(names))]) }
	switch r.Type {
	case fleet.Route, fleet.VirtualHost:
		p.to[0] = one(fleet.Cluster, "a", "b", "c")
	case fleet.ScopedRoute:
		for p.to[0] = f.fleet[r].to[0]; p.to[0] == f.fleet[r].to[0]; {
			p.to[0] = one(fleet.Route, "r1", "r2", "r3")
		}
	case fleet.Cluster:
		p.to[0] = ref(fleet.Endpoint, r.Name)
	case fleet.Listener:
		switch r.Name {
		case "scopes":
		case "hosts":
			p.to[0] = ref(fleet.Route, "vhds")
		default:
			p.to[0] = one(fleet.Route, "r1", "r2", "r3")
		}
		switch r.Name {
		case "filtered":
			p.to[1] = one(fleet.Extension, "f1", "f2")
		case "secured":
			p.to[1] = one(fleet.Secret, "s1", "s2")
		}
	}
	return p
}

var (
	directions = [...]string{"UNSPECIFIED", "INBOUND", "OUTBOUND"}
	aborts     = [...]int{418, 410, 451}
)

// hasty is ADS for the routes of scopes: a listener that begins with one whose route is missing waits so long, instead of 15 s.
const hasty = "{ads: {}, resource_api_version: V3, initial_fetch_timeout: 1s}"

// document is what is written of it.
func (f *fleets) document(r fleet.Ref, p part) world.Resource {
	switch r.Type {
	case fleet.Cluster:
		return world.EDSCluster(r.Name, sprintf("%ds", p.mark%9+1), f.source)
	case fleet.Endpoint:
		return world.Endpoints(r.Name, f.backends[r.Name+strconv.Itoa(p.mark%2)])
	case fleet.Route:
		return world.NewResource("routes", r.Name, sprintf(`{name: %s, virtual_hosts: [{name: v%d, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: %s}}]}]}`, r.Name, p.mark, p.to[0].Name))
	case fleet.VirtualHost:
		return world.NewResource("virtual-hosts", r.Name, sprintf(`{name: %s, domains: ["known.host"], routes: [{match: {prefix: /}, name: v%d, route: {cluster: %s}}]}`, r.Name, p.mark, p.to[0].Name))
	case fleet.ScopedRoute:
		return scope(r.Name, r.Name, p.to[0].Name)
	case fleet.Extension:
		return aborting(r.Name, aborts[p.mark%len(aborts)])
	case fleet.Secret:
		s := f.keys[p.mark%2]
		s.Name, s.Body = r.Name, strings.Replace(s.Body, `"name":""`, sprintf(`"name":%q`, r.Name), 1)
		return s
	case fleet.Runtime:
		return layer(r.Name, "e2e.key", p.mark)
	}
	l := world.HTTPListener{Name: r.Name, Address: f.at[r.Name], Routes: world.RDS(p.to[0].Name, f.source)}
	switch r.Name {
	case "filtered":
		l.Filters = discovered(p.to[1].Name, f.source)
	case "secured":
		l.TLS = presents(p.to[1].Name, f.source)
	case "scopes":
		l.Routes = scoped(sprintf("{ads: {}, resource_api_version: V3, initial_fetch_timeout: %ds}", 14+p.mark%2), hasty) // a source of its own
	case "hosts":
		l.Filters = onDemand
	}
	return l.Resource().With("traffic_direction: " + directions[p.mark%len(directions)])
}

// step makes one revision of the fleet, and holds what is said and what comes of it against the statement.
func (f *fleets) step(next parts) {
	f.T.Helper()
	var resources, deletes strings.Builder
	var did []string
	for _, r := range f.all {
		p, is := next[r]
		old, was := f.fleet[r]
		switch {
		case is && (!was || p != old):
			resources.WriteString("- " + f.document(r, p).Document())
			did = append(did, sprintf("write %s naming %v, version %d", nameOf(r), p.to, p.mark))
		case was && !is:
			deletes.WriteString(sprintf("- {type: %s, name: %q}\n", r.Type.Slug(), r.Name))
			did = append(did, "delete "+nameOf(r))
		}
	}
	if len(did) == 0 {
		return
	}
	f.steps = append(f.steps, strings.Join(did, ", "))
	doc := ""
	for list, items := range map[string]string{"resources": resources.String(), "delete": deletes.String()} {
		if items != "" {
			doc += list + ":\n" + items
		}
	}
	written := f.writes(doc)
	f.spoken(written, next)
	withheld := f.settle(next)
	f.awaitReceipt(written.Revision, withheld)
	f.awaitEnvoy()
}

// fails ends the test, and tells how it came to that.
func (f *fleets) fails(format string, args ...any) {
	f.T.Helper()
	f.T.Fatalf(format+"\nin this fleet:\n%s", append(args, strings.Join(f.steps, "\n"))...)
}

// writes applies a document, and confirms what has to be.
func (f *fleets) writes(doc string) *client.WriteResult {
	f.T.Helper()
	for range 2 {
		r, err := f.REST.ApplyWithBodyWithResponse(f.T.Context(), f.Tenant, f.Fleet, nil, "application/yaml", strings.NewReader(doc))
		if err == nil && r.ApplicationproblemJSON428 != nil {
			doc += "confirm: " + *r.ApplicationproblemJSON428.Token + "\n"
			continue
		}
		f.Made(r, err)
		return r.JSON200
	}
	f.fails("it is to be confirmed again and again")
	return nil
}

var spoken = regexp.MustCompile(`^(\S+) names (\S+), which this deletes: (.*); keep it`)

// spoken holds what the write says of its deletions against what it deletes.
func (f *fleets) spoken(written *client.WriteResult, next parts) {
	f.T.Helper()
	var said, want []string
	for _, x := range written.Findings.Items {
		if m := spoken.FindStringSubmatch(x.Detail); m != nil {
			said = append(said, sprintf("%s: %s: %s", m[1], m[2], m[3]))
		}
	}
	for by, p := range next {
		for _, to := range p.to {
			if _, was := f.fleet[to]; !was {
				continue
			}
			if _, is := next[to]; is {
				continue
			}
			f.named++
			effect := sprintf("nodes keep what they have of %s, or go without it, until it is there", nameOf(by))
			switch {
			case to.Type == fleet.Cluster:
				effect = "what is sent there fails, requests with 503, but in nodes that keep something withheld or deleted that uses it"
			case to.Type == fleet.Endpoint:
				effect = "the cluster has no endpoints, and requests to it fail with 503"
			case by.Type == fleet.ScopedRoute:
				effect = "nodes keep the route if they have it, and requests of its scope are not routed by the others"
			}
			want = append(want, sprintf("%s: %s: %s", nameOf(by), nameOf(to), effect))
		}
	}
	slices.Sort(said)
	slices.Sort(want)
	if !slices.Equal(said, want) {
		f.fails("the write says\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
}

// settle is the plain statement: what the Envoy has once the fleet is this one, and what is withheld of what is new in it.
func (f *fleets) settle(next parts) (withheld []string) {
	had, has := f.envoy, parts{}
	asked := func(to fleet.Ref) { // it goes on with what was deleted while something names it
		if to.Name == "" || to.Name == "vhds" {
			return
		}
		if p, is := next[to]; is {
			has[to] = p
		} else if p, was := had[to]; was {
			has[to] = p
		}
	}
	for r, p := range next {
		if r.Type != fleet.Listener {
			continue
		}
		old, was := had[r]
		lacks := slices.ContainsFunc(p.to[:], func(to fleet.Ref) bool {
			_, is := next[to]
			return to.Name != "" && to.Name != "vhds" && !is && !(was && old.names(to))
		})
		switch {
		case !lacks:
			has[r] = p
		case was:
			has[r] = old
		}
		if lacks && p != f.fleet[r] {
			withheld = append(withheld, nameOf(r))
		}
	}
	for _, p := range maps.Clone(has) {
		for _, to := range p.to {
			asked(to)
		}
	}
	if _, is := has[ref(fleet.Listener, "scopes")]; is {
		for r, p := range next {
			if r.Type == fleet.ScopedRoute {
				has[r] = p
				asked(p.to[0])
			}
		}
	}
	for r, p := range next {
		if r.Type == fleet.Cluster || r.Type == fleet.Runtime || r.Type == fleet.VirtualHost {
			has[r] = p
		}
	}
	for r, p := range maps.Clone(has) { // and so do the clusters of a route that does, or that only a withheld listener's last known good version names
		_, is := next[r]
		switch {
		case r.Type == fleet.Route && !is:
			asked(p.to[0])
		case r.Type == fleet.Listener && p != next[r] && p.to[0] != next[r].to[0]:
			asked(has[p.to[0]].to[0])
		}
	}
	for r := range maps.Clone(has) {
		if r.Type != fleet.Cluster {
			continue
		}
		endpoints := ref(fleet.Endpoint, r.Name)
		_, lives := next[r]
		if p, is := next[endpoints]; is {
			has[endpoints] = p
		} else if p, was := had[endpoints]; was && !lives {
			has[endpoints] = p
		}
	}
	f.fleet, f.envoy = next, has
	slices.Sort(withheld)
	f.kept += len(withheld)
	return withheld
}

// awaitReceipt waits for the receipt: delivered, or pending for what is withheld.
func (f *fleets) awaitReceipt(revision int64, withheld []string) {
	f.T.Helper()
	var r *client.Receipt
	state := client.ReceiptStateDelivered
	if len(withheld) > 0 {
		state = client.ReceiptStatePending
	}
	matches := func() bool {
		r = f.Receipt(revision)
		var told []string
		for _, n := range r.Nodes {
			if n.Withheld != nil {
				for _, h := range *n.Withheld {
					told = append(told, string(h.Resource.Type)+"/"+h.Resource.Name)
				}
			}
		}
		slices.Sort(told)
		return r.State == state && r.Counts.Offline == 0 && slices.Equal(slices.Compact(told), withheld)
	}
	if !f.within(matches) {
		f.fails("the receipt is %s, want it %s, with %v withheld", world.AsJSON(r), state, withheld)
	}
}

// within waits for it, and reports whether it came.
func (f *fleets) within(holds func() bool) bool {
	for end := time.Now().Add(world.Soon); !holds(); {
		if time.Now().After(end) {
			return false
		}
		select {
		case <-f.T.Context().Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}

// awaitEnvoy waits until the Envoy has and does what it should.
func (f *fleets) awaitEnvoy() {
	f.T.Helper()
	var has, does string
	wantHas, wantDoes := f.should(), f.shouldDo()
	if !f.within(func() bool { has = f.dumped(); return has == wantHas }) {
		f.fails("the Envoy has\n%s\nwant\n%s", has, wantHas)
	}
	if !f.within(func() bool { does = f.answered(); return does == wantDoes }) {
		f.fails("the Envoy answers\n%s\nwant\n%s", does, wantDoes)
	}
}

// serves is what a request to a cluster is answered.
func (f *fleets) serves(c fleet.Ref) string {
	p, is := f.envoy[ref(fleet.Endpoint, c.Name)]
	if _, there := f.envoy[c]; !is || !there {
		return "503"
	}
	return "200 " + c.Name + strconv.Itoa(p.mark%2)
}

// routes is the same of a route, 404 of one that it has not.
func (f *fleets) routes(r fleet.Ref) string {
	if p, is := f.envoy[r]; is {
		return f.serves(p.to[0])
	}
	return "404"
}

// should is what the dumps are to say.
func (f *fleets) should() string {
	var lines []string
	for r, p := range f.envoy {
		var mark string
		switch r.Type {
		case fleet.Cluster:
			mark = sprintf("%ds", p.mark%9+1)
		case fleet.Endpoint:
			mark = f.backends[r.Name+strconv.Itoa(p.mark%2)]
		case fleet.Listener:
			mark = directions[p.mark%len(directions)]
		case fleet.Route:
			mark = sprintf("v%d", p.mark)
		case fleet.Extension:
			mark = strconv.Itoa(aborts[p.mark%len(aborts)])
		case fleet.Runtime:
			mark = strconv.Itoa(p.mark)
		case fleet.ScopedRoute:
			mark = p.to[0].Name
		case fleet.Secret:
		default: // virtual hosts are in no dump: requests tell
			continue
		}
		lines = append(lines, nameOf(r)+" "+mark)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// shouldDo is what requests are to be answered.
func (f *fleets) shouldDo() string {
	var lines []string
	say := func(who, what string) { lines = append(lines, who+": "+what) }
	for name := range f.at {
		l, is := f.envoy[ref(fleet.Listener, name)]
		switch {
		case !is:
			say(name, "0")
		case name == "filtered":
			say(name, strconv.Itoa(aborts[f.envoy[l.to[1]].mark%len(aborts)]))
		case name == "secured":
			say(name, f.routes(l.to[0])+" "+f.ders[f.envoy[l.to[1]].mark%2])
		case name == "scopes":
			for _, s := range []string{"one", "two"} {
				answer := "404"
				if p, is := f.envoy[ref(fleet.ScopedRoute, s)]; is {
					answer = f.routes(p.to[0])
				}
				say(name+" "+s, answer)
			}
		case name == "hosts":
			answer := "404"
			if p, is := f.envoy[ref(fleet.VirtualHost, "vhds/known")]; is {
				answer = f.serves(p.to[0])
			}
			say(name, answer)
		default:
			say(name, f.routes(l.to[0]))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// answered is what requests are answered.
func (f *fleets) answered() string {
	var lines []string
	say := func(who, what string) { lines = append(lines, who+": "+what) }
	plain := func(name string, change func(*http.Request)) string {
		code, body := asked(f.at[name], change)
		if code == http.StatusOK {
			return "200 " + body
		}
		return strconv.Itoa(code)
	}
	for name := range f.at {
		_, is := f.envoy[ref(fleet.Listener, name)]
		switch {
		case name == "secured":
			say(name, f.answeredOverTLS())
		case name == "scopes" && is:
			for _, s := range []string{"one", "two"} {
				say(name+" "+s, plain(name, func(r *http.Request) { r.Header.Set("X-Scope", s) }))
			}
		case name == "hosts":
			say(name, plain(name, func(r *http.Request) { r.Host = "known.host" }))
		default:
			say(name, plain(name, nil))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// answeredOverTLS is an answer with the hash of the certificate that was shown.
func (f *fleets) answeredOverTLS() string {
	c := http.Client{Timeout: world.Soon, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // any certificate will do: which one it is is compared
	r, err := http.NewRequestWithContext(f.T.Context(), http.MethodGet, "https://"+f.at["secured"], http.NoBody)
	world.Must(f.T, err)
	resp, err := c.Do(r)
	if err != nil {
		return "0"
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	code := strconv.Itoa(resp.StatusCode)
	if resp.StatusCode == http.StatusOK {
		code += " " + string(b)
	}
	return code + sprintf(" %x", sha256.Sum256(resp.TLS.PeerCertificates[0].Raw))
}
