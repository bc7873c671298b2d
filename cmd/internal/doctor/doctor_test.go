package doctor

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/cmd/internal/run"
	"fairlead/internal/audit"
	"fairlead/internal/auth"
	"fairlead/internal/bootstrap"
	"fairlead/internal/fleet"
	"fairlead/internal/seal"
	"fairlead/internal/xds"
)

// TestAHealthyInstallationHasNoFault, nor a warning: all three groups together.
func TestAHealthyInstallationHasNoFault(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.ownPostgres(100, map[string]string{"autovacuum": "on", "synchronous_commit": "on"})
	at, u := w.xds(w.good(), false), w.api(nil)
	_, token := w.nodeToken("edge", "edge-*", 0)
	w.put(u, w.apiToken(0), "clusters", "backend", cluster)
	w.connect(at, token, "1.40.0").answer("")
	c := w.envoy(at, token)
	c.Database, c.SealPublic, c.SealPrivate = w.appURL, filepath.Join(w.keyDir(), seal.PublicFile), filepath.Join(w.keyDir(), seal.PrivateFile)
	c.VersionKey = filepath.Join(w.keyDir(), seal.VersionFile)
	key, err := seal.LoadVersion(c.VersionKey)
	w.must(err)
	_, f, err := w.store().SignAudit(w.Context(), w.tenant, audit.NewSigner(key), func() error { return nil })
	w.must(err)
	if f != nil {
		t.Fatal(f)
	}
	c.API = w.at(u, w.apiToken(0)).API
	r := w.until(c, "api.nodes", OK)
	// The API is asked over loopback, without TLS; an Envoy needs no call_creds.
	plain := []string{"node.call_creds", "api.tls_chain", "api.tls_name", "api.tls_time"}
	for _, one := range r.Checks {
		want := OK
		if slices.Contains(plain, one.Check) {
			want = NotChecked
		}
		// Nothing leads to the cluster, which harms nobody.
		if one.State != want {
			t.Errorf("%+v, want %s", one, want)
		}
	}
	if r.Faults != 0 || r.Warnings != 0 || r.NotChecked != len(plain) {
		t.Errorf("%d faults, %d warnings, %d not checked", r.Faults, r.Warnings, r.NotChecked)
	}
}

// TestOtherClientsAreHealthyToo: what they need else is checked in other ways.
func TestOtherClientsAreHealthyToo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client bootstrap.Client
		change func(*bootstrap.Config)
		tls    bool
	}{
		"google_grpc": {bootstrap.ClientGoogleGRPC, func(*bootstrap.Config) {}, true},
		"gRPC": {bootstrap.ClientGRPC, func(c *bootstrap.Config) {
			c.ServerName = ""
			c.XDSAddresses[0] = strings.Replace(c.XDSAddresses[0], "127.0.0.1", "localhost", 1)
		}, true},
		"a relay":       {bootstrap.ClientRelay, func(*bootstrap.Config) {}, true},
		"polls":         {bootstrap.ClientEnvoy, func(c *bootstrap.Config) { c.REST = true }, true},
		"in plain text": {bootstrap.ClientEnvoy, func(c *bootstrap.Config) { c.Delta = true }, false},
		"of a variable": {bootstrap.ClientEnvoy, func(c *bootstrap.Config) { c.TokenFile, c.TokenEnv = "", "MY_TOKEN" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			conf := w.good()
			if !c.tls {
				conf, w.root = nil, nil
			}
			_, token := w.nodeToken("edge", "edge-1", 0)
			w.env["MY_TOKEN"], w.env[bootstrap.CallCredsVariable] = token, "true"
			r := Run(t.Context(), w.node(c.client, w.xds(conf, false), token, c.change))
			if r.Faults != 0 || r.Warnings != 0 || of(r, "node.node_id").State != OK {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestNobodyBecomesANode: the checks of a node leave none behind, and no event.
func TestNobodyBecomesANode(t *testing.T) {
	t.Parallel()
	w := setup(t)
	at, u := w.xds(nil, false), w.api(nil)
	_, token := w.nodeToken("edge", "edge-*", 0)
	r := Run(t.Context(), w.envoy(at, token, func(c *bootstrap.Config) { c.NodeID = "edge-of-doctor" }))
	if r.Faults != 0 || of(r, "node.node_id").State != OK {
		t.Fatalf("%+v", r)
	}
	// A proxy that comes behind it is the only node of the fleet that the API hears of.
	w.put(u, w.apiToken(0), "clusters", "backend", cluster)
	w.connect(at, token, "1.40.0").answer("")
	c := w.at(u, w.apiToken(0))
	there := w.untilIs(c, "api.nodes", func(r Result) bool { return !strings.HasPrefix(r.Saw, "no node") })
	if of(there, "api.nodes").Saw != "1 connected" {
		t.Errorf("%+v", there)
	}
	x := &examination{Config: c, results: map[string]Result{}}
	x.api.tenant, x.api.fleet = "acme", "edge"
	events, _, err := list[json.RawMessage](t.Context(), x, x.below("/events"), 1)
	if err != nil || len(events) != 0 {
		t.Errorf("%s, %v", events, err)
	}
}

// TestAPortWithoutTokensIsHealthy: that of a relay's clients, and of fairlead dev --open-xds.
func TestAPortWithoutTokensIsHealthy(t *testing.T) {
	t.Parallel()
	w := setup(t).withDatabase()
	everybody, err := auth.ParseNodePattern("*")
	w.must(err)
	at := w.port(run.Port{Anonymous: &xds.Identity{Key: fleet.Key{Tenant: w.tenant, Fleet: w.fleets["edge"]}, Nodes: everybody}})
	r := Run(t.Context(), w.node(bootstrap.ClientGRPC, at, "", func(c *bootstrap.Config) { c.TokenFile = "" }))
	if r.Faults != 0 || of(r, "node.credential").Saw != "the server asks for no token" || of(r, "node.node_id").State != OK {
		t.Errorf("%+v", r)
	}
}

// TestACheckComesBehindWhatItNeeds, and names itself as scripts know it.
func TestACheckComesBehindWhatItNeeds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range Checks() {
		for _, before := range c.after {
			if !seen[before] {
				t.Errorf("%s stands before %s, which it needs", c.ID, before)
			}
		}
		if seen[c.ID] || c.Looks == "" || (Config{}).Given(c.Group()) == "" {
			t.Errorf("%+v", c)
		}
		seen[c.ID] = true
	}
	if len(seen) < 30 {
		t.Errorf("%d checks", len(seen))
	}
}

// TestWhatIsNotGivenIsNotGreen: nor what needs something that failed.
func TestWhatIsNotGivenIsNotGreen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, one := range Run(t.Context(), w.config()).Checks {
		if one.State != NotChecked || !strings.HasPrefix(one.Saw, "no ") {
			t.Errorf("nothing is given: %+v", one)
		}
	}
	c := w.envoy(w.closed(), aToken)
	c.Database, c.API = "postgres://x@"+w.closed()+"/x", w.at(&url.URL{Scheme: "http", Host: w.closed()}, anAPIToken).API
	green := map[string]bool{"node.bootstrap": true, "node.token": true, "node.proxy": true, "node.file_limit": true, "node.dns": true, "database.url": true, "api.proxy": true, "api.dns": true}
	for _, one := range Run(t.Context(), c).Checks {
		if one.State == OK && !green[one.Check] {
			t.Errorf("nothing answers: %+v", one)
		}
	}
}
