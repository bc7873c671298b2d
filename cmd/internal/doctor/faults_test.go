package doctor

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/internal/audit"
	"fairlead/internal/bootstrap"
	"fairlead/internal/fleet"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// fault is one that is made for real, and how its check ends.
type fault struct {
	what  string
	state State
	says  string // a part of what was seen, or of what to do
	make  func(w *world) Config
	wait  bool // it is there a moment later
}

// faults are of every check.
var faults = map[string][]fault{
	"node.bootstrap": {
		{"no file", Failed, "cannot be read", func(w *world) Config { c := w.config(); c.Bootstrap = w.dir + "/none"; return c }, false},
		{"another file", Failed, "no bootstrap", func(w *world) Config { c := w.config(); c.Bootstrap = w.file("x", "- 1"); return c }, false},
		{"no node id", Failed, "no node.id", edited(`id: "edge-1"`, `id: ""`), false},
		{"an old one", Warning, "old_bootstrap", edited(`metadata: {"fairlead":{"bootstrap":2}}`, ``), false},
		{"no cluster", Failed, `no cluster "fairlead_xds"`, edited(`- name: fairlead_xds`, `- name: other`), false},
		{"files", Failed, "reads files", func(w *world) Config {
			text, err := bootstrap.Envoy(bootstrap.Config{NodeID: "edge-1", Folder: "/xds"})
			w.must(err)
			c := w.config()
			c.Bootstrap = w.file("x", string(text))
			return c
		}, false},
	},
	"node.token": {
		{"no file", Failed, "the token file cannot be read", func(w *world) Config {
			c := w.envoy("127.0.0.1:1", "")
			w.must(os.Remove(filepath.Join(w.dir, "token")))
			return c
		}, false},
		{"no file that leads to it", Failed, "through which Envoy reads", func(w *world) Config {
			c := w.envoy("127.0.0.1:1", "")
			w.must(os.Remove(filepath.Join(w.dir, "fairlead_token.yaml")))
			return c
		}, false},
		{"an empty file", Failed, "holds no token", func(w *world) Config { return w.envoy("127.0.0.1:1", "\n") }, false},
		{"a damaged one", Failed, "checksum", func(w *world) Config { return w.envoy("127.0.0.1:1", aToken[:len(aToken)-1]+"_") }, false},
		{"an API token", Failed, "this is an API token", func(w *world) Config { return w.envoy("127.0.0.1:1", anAPIToken) }, false},
		{"a newline", Warning, "an Envoy before 1.40 opens no stream", func(w *world) Config { return w.envoy("127.0.0.1:1", aToken+"\n") }, false},
		{"a newline for gRPC", Failed, "opens no stream", func(w *world) Config {
			w.good()
			return w.node(bootstrap.ClientGRPC, "localhost:1", aToken+"\n", func(c *bootstrap.Config) { c.ServerName = "" })
		}, false},
		{"no variable", Failed, "MY_TOKEN is not set", func(w *world) Config {
			return w.envoy("127.0.0.1:1", "", func(c *bootstrap.Config) { c.TokenFile, c.TokenEnv = "", "MY_TOKEN" })
		}, false},
	},
	"node.call_creds": {{"no variable", Failed, bootstrap.CallCredsVariable + "=true", func(w *world) Config {
		w.good()
		return w.node(bootstrap.ClientGRPC, "localhost:1", aToken, func(c *bootstrap.Config) { c.ServerName = "" })
	}, false}},
	"node.proxy": {
		{"of an Envoy", Warning, "which an Envoy ignores", func(w *world) Config {
			w.env["HTTPS_PROXY"] = "http://me:canary-password@proxy.example.com:3128"
			return w.envoy("xds.example.invalid:1", aToken)
		}, false},
		{"of a gRPC client", Warning, "through the proxy proxy.example.com:3128", func(w *world) Config {
			w.good()
			w.env["HTTPS_PROXY"] = "http://proxy.example.com:3128"
			return w.node(bootstrap.ClientGRPC, "xds.example.invalid:1", aToken, func(c *bootstrap.Config) { c.ServerName = "" })
		}, false},
	},
	"node.file_limit": {
		{"few", Warning, "may open 1000 files", func(w *world) Config { return w.limited(1000, 0) }, false},
		{"nearly all are open", Failed, "may open 30 files, and has 2", func(w *world) Config { return w.limited(30, 25) }, false},
	},
	"node.dns": {{"no such name", Failed, "no-such-host.invalid", func(w *world) Config { return w.envoy("no-such-host.invalid:18000", aToken) }, false}},
	"node.tcp": {
		{"nothing listens", Failed, "refuses the connection", func(w *world) Config { return w.envoy(w.closed(), aToken) }, false},
		{"one of two", Warning, "refuses the connection: nothing listens there", func(w *world) Config {
			return w.envoy(w.listen().Addr().String(), aToken, func(c *bootstrap.Config) { c.XDSAddresses = append(c.XDSAddresses, w.closed()) })
		}, false},
	},
	"node.tls": {
		{"the server has none", Failed, "speaks plaintext, and the bootstrap asks for TLS", func(w *world) Config {
			at := w.xds(nil, false)
			w.good()
			return w.envoy(at, aToken)
		}, false},
		{"the bootstrap has none", Failed, "speaks TLS, and the bootstrap asks for plaintext", func(w *world) Config {
			conf := w.good()
			w.root = nil
			return w.envoy(w.xds(conf, false), aToken)
		}, false},
	},
	"node.tls_chain": {
		{"another authority", Failed, "is of no authority", func(w *world) Config {
			at := w.xds(w.good(), false)
			w.root = w.authority()
			return w.envoy(at, aToken)
		}, false},
		{"no file", Failed, "trusted authorities cannot be read", func(w *world) Config {
			c := w.envoy(w.xds(w.good(), false), aToken)
			w.must(os.Remove(filepath.Join(w.dir, "ca.pem")))
			return c
		}, false},
	},
	"node.tls_name": {{"another name", Failed, "is for localhost, and the client wants xds.example.com", func(w *world) Config {
		return w.envoy(w.xds(w.good(), false), aToken, func(c *bootstrap.Config) { c.ServerName = "xds.example.com" })
	}, false}},
	"node.tls_time": {
		{"expired", Failed, "expired at", func(w *world) Config { return w.envoy(w.xds(w.certificate(-year, -time.Hour), false), aToken) }, false},
		{"soon", Warning, "expires at", func(w *world) Config { return w.envoy(w.xds(w.certificate(-time.Hour, time.Hour), false), aToken) }, false},
		{"early", Failed, "begins at", func(w *world) Config { return w.envoy(w.xds(w.certificate(time.Hour, year), false), aToken) }, false},
	},
	"node.alpn": {{"the API's port", Failed, "does not offer h2", func(w *world) Config { return w.envoy(w.api(w.good()).Host, aToken) }, false}},
	"node.protocol": {
		{"the API", Failed, "is the API, not an xDS server", func(w *world) Config { return w.envoy(w.api(nil).Host, aToken) }, false},
		{"the API, TLS", Failed, "is the API, not an xDS server", func(w *world) Config { return w.envoy(w.api(w.good()).Host, aToken) }, false},
		{"REST alone", Failed, "and no gRPC", func(w *world) Config { return w.envoy(w.xds(nil, true), aToken) }, false},
		{"REST alone, TLS", Failed, "and no gRPC", func(w *world) Config { return w.envoy(w.xds(w.good(), true), aToken) }, false},
		{"polls to the API", Failed, "is the API", func(w *world) Config {
			return w.envoy(w.api(nil).Host, aToken, func(c *bootstrap.Config) { c.REST = true })
		}, false},
		{"a page", Failed, "is no xDS server", func(w *world) Config { return w.envoy(w.page().Host, aToken) }, false},
	},
	"node.clock": {{"ours is wrong", Failed, "ahead of this machine's", func(w *world) Config { w.clock = -time.Hour; return w.envoy(w.xds(nil, false), aToken) }, false}},
	"node.credential": {
		{"unknown", Failed, "refuses the token", func(w *world) Config { return w.envoy(w.xds(nil, false), aToken) }, false},
		{"ended", Failed, "expired", func(w *world) Config {
			_, token := w.nodeToken("edge", "*", -time.Minute)
			return w.envoy(w.xds(nil, false), token)
		}, false},
		{"revoked", Failed, "revoked", func(w *world) Config {
			id, token := w.nodeToken("edge", "*", 0)
			w.must(w.store().RevokeNodeCredential(w.Context(), w.tenant, w.fleets["edge"], actor, id))
			return w.envoy(w.xds(nil, false), token)
		}, false},
	},
	"node.node_id": {{"another node's", Failed, `does not admit the node id "edge-1", it is for "core-*"`, func(w *world) Config {
		_, token := w.nodeToken("edge", "core-*", 0)
		return w.envoy(w.xds(nil, false), token)
	}, false}},
	"node.stream": {{"it refuses", Failed, "no such thing", func(w *world) Config {
		at, _, _, token := w.running("1.40.0", "no such thing")
		return w.envoy(at, token)
	}, true}},
	"node.fleet": {
		{"another fleet's", Failed, "is none of the fleet acme/edge", func(w *world) Config {
			_, token := w.nodeToken("prod", "*", 0)
			return w.both(token)
		}, false},
		{"revoked", Failed, "was revoked at", func(w *world) Config {
			id, token := w.nodeToken("edge", "*", 0)
			w.must(w.store().RevokeNodeCredential(w.Context(), w.tenant, w.fleets["edge"], actor, id))
			return w.both(token)
		}, false},
		{"ended", Failed, "ended at", func(w *world) Config { _, token := w.nodeToken("edge", "*", -time.Minute); return w.both(token) }, false},
		{"soon", Warning, "renew it", func(w *world) Config { _, token := w.nodeToken("edge", "*", time.Hour); return w.both(token) }, false},
		{"another node's", Failed, "is not valid for the node id edge-1", func(w *world) Config {
			_, token := w.nodeToken("edge", "core-*", 0)
			return w.both(token)
		}, false},
	},

	"database.url": {
		{"no URL", Failed, "cannot be read", func(w *world) Config { return w.database("postgres://x:canary-password@%zz/") }, false},
		{"in the clear", Failed, "sslmode=verify-full", func(w *world) Config { return w.database("postgres://x:canary-password@db.example.com/fairlead") }, false},
		{"in the clear, to listen", Failed, "--listen-database", func(w *world) Config {
			c := w.database("postgres://127.0.0.1:1/x")
			c.ListenDatabase = "postgres://x:canary-password@db.example.com/fairlead"
			return c
		}, false},
		{"in the clear, to a standby", Failed, "--read-database", func(w *world) Config {
			c := w.database("postgres://127.0.0.1:1/x")
			c.ReadDatabase = "postgres://x:canary-password@db.example.com/fairlead"
			return c
		}, false},
	},
	"database.reach": {
		{"nothing listens", Failed, "see that it runs", func(w *world) Config { return w.database("postgres://x:canary-password@" + w.closed() + "/x") }, false},
		{"no such database", Failed, "CREATE DATABASE", func(w *world) Config {
			w.withDatabase()
			return w.database(strings.Replace(w.appURL, w.db.Name, "none", 1))
		}, false},
		{"no such role", Failed, "correct the role", func(w *world) Config {
			w.withDatabase()
			return w.database(strings.Replace(w.appURL, "fairlead_app", "nobody", 1))
		}, false},
	},
	"database.server": {{"it takes no writes", Failed, "takes no writes", func(w *world) Config {
		w.withDatabase()
		w.db.Exec(w, "ALTER ROLE fairlead_app IN DATABASE "+w.db.Name+" SET default_transaction_read_only = on")
		return w.database(w.appURL)
	}, false}},
	"database.role": {{"a superuser", Failed, "superuser", func(w *world) Config { w.withDatabase(); return w.database(w.db.Owner) }, false}},
	"database.schema": {
		{"none", Failed, "no schema yet", func(w *world) Config { return w.database(storetest.Empty(w).App) }, false},
		{"behind", Failed, "run the migrations", func(w *world) Config {
			w.withDatabase()
			w.db.Exec(w, "UPDATE schema_migrations SET version = version - 1")
			return w.database(w.appURL)
		}, false},
		{"ahead", Warning, "a newer version has migrated it", func(w *world) Config {
			w.withDatabase()
			w.db.Exec(w, "UPDATE schema_migrations SET version = version + 1")
			return w.database(w.appURL)
		}, false},
		{"other functions", Failed, "functions", func(w *world) Config {
			w.withDatabase()
			w.db.Exec(w, "UPDATE schema_contents SET hash = 'x' WHERE what = 'functions'")
			return w.database(w.appURL)
		}, false},
		{"half-way", Failed, "half-way", func(w *world) Config {
			w.withDatabase()
			w.db.Exec(w, "UPDATE schema_migrations SET dirty = true")
			return w.database(w.appURL)
		}, false},
	},
	"database.pooler": {{"PgBouncer", Warning, "a connection pooler answers", func(w *world) Config { return w.database(w.pooler("transaction")) }, false}},
	"database.notify": {
		{"PgBouncer of transactions", Failed, "is not heard", func(w *world) Config { return w.database(w.pooler("transaction")) }, false},
		{"another database", Failed, "is not heard", func(w *world) Config {
			c := w.database(w.withDatabase().appURL)
			c.ListenDatabase = storetest.New(w).App
			return c
		}, false},
		{"nothing there", Failed, "cannot be tried", func(w *world) Config {
			c := w.database(w.withDatabase().appURL)
			c.ListenDatabase = "postgres://x@" + w.closed() + "/x"
			return c
		}, false},
	},
	"database.standby": {
		{"another database", Warning, "it is no standby of this database", func(w *world) Config {
			c := w.database(w.withDatabase().nodeURL)
			c.ReadDatabase = storetest.New(w).Node
			return c
		}, false},
		{"the primary", Warning, "it takes writes", func(w *world) Config {
			c := w.database(w.withDatabase().nodeURL)
			c.ReadDatabase = w.nodeURL
			return c
		}, false},
		{"nothing there", Warning, "the standby cannot be used", func(w *world) Config {
			c := w.database(w.withDatabase().nodeURL)
			c.ReadDatabase = "postgres://x@" + w.closed() + "/x"
			return c
		}, false},
		{"a superuser", Warning, "superuser", func(w *world) Config {
			c := w.database(w.withDatabase().nodeURL)
			c.ReadDatabase = w.db.Owner
			return c
		}, false},
		{"it stands still", Warning, "it does not have what the primary has", func(w *world) Config {
			p := storetest.NewPair(w)
			p.OnStandby(w, "SELECT pg_wal_replay_pause()")
			p.Exec(w, "CREATE TABLE late ()")
			c := w.database(p.Node)
			c.ReadDatabase = p.Read
			return c
		}, false},
	},
	"database.connections": {
		{"few", Warning, "raise max_connections", func(w *world) Config { w.ownPostgres(12, nil); return w.database(w.appURL) }, false},
		{"nearly none left", Failed, "raise max_connections", func(w *world) Config {
			w.ownPostgres(12, nil)
			var db storetest.DB
			for range 8 {
				conn := db.Connect(w, w.appURL)
				w.Cleanup(func() { _ = conn.Close(w.Context()) })
			}
			return w.database(w.appURL)
		}, false},
	},
	"database.statistics": {{"a large table that nobody analyzed", Warning, "knows nothing of audit_copy", func(w *world) Config {
		w.withDatabase()
		w.db.Exec(w, "CREATE TABLE audit_copy AS SELECT repeat('x', 1000) AS x FROM generate_series(1, 200); ALTER TABLE audit_copy OWNER TO fairlead_owner")
		return w.database(w.appURL)
	}, false}},
	"database.autovacuum": {{"off, as tests have it", Failed, "autovacuum or track_counts is off", func(w *world) Config { w.withDatabase(); return w.database(w.appURL) }, false}},
	"database.disk": {{"no room for files", Failed, "Postgres cannot write", func(w *world) Config {
		w.withDatabase()
		w.db.Exec(w, "ALTER ROLE fairlead_app IN DATABASE "+w.db.Name+" SET temp_file_limit = '64kB'")
		return w.database(w.appURL)
	}, false}},
	"database.clock": {{"ours is wrong", Failed, "the database's clock is 1h0m0s behind", func(w *world) Config {
		w.clock = time.Hour
		w.withDatabase()
		return w.database(w.appURL)
	}, false}},
	"database.leases": {
		{"no server", Failed, "no xDS server has a lease", func(w *world) Config { w.withDatabase(); return w.database(w.appURL) }, false},
		{"one is gone", Warning, "without their saying that they end: gone", func(w *world) Config {
			w.withDatabase()
			w.lease("gone", store.ServerLoad{})
			w.db.Exec(w, "UPDATE xds_servers SET seen_at = now() - interval '1 minute', lease_until = now() - interval '54 seconds'")
			w.lease("here", store.ServerLoad{})
			return w.database(w.appURL)
		}, false},
		{"one is behind", Failed, "slow for 1m0s", func(w *world) Config {
			w.withDatabase()
			w.lease("slow", store.ServerLoad{Behind: time.Minute})
			return w.database(w.appURL)
		}, false},
	},
	"database.seal_key": {
		{"another key", Failed, "the xDS servers have 0123456789abcdef", func(w *world) Config {
			w.withDatabase()
			w.lease("s", store.ServerLoad{SealKey: "0123456789abcdef"})
			c := w.database(w.appURL)
			c.SealPublic = filepath.Join(w.keyDir(), seal.PublicFile)
			return c
		}, false},
		{"no file", Failed, "there is no file", func(w *world) Config {
			w.withDatabase()
			c := w.database(w.appURL)
			c.SealPrivate = w.dir + "/none"
			return c
		}, false},
		{"two keys", Failed, "have different keys", func(w *world) Config {
			w.withDatabase()
			w.lease("s", store.ServerLoad{SealKey: "0123456789abcdef"})
			w.lease("t", store.ServerLoad{SealKey: "fedcba9876543210"})
			return w.database(w.appURL)
		}, false},
	},
	"database.version_key": {
		{"another key", Failed, "acme", func(w *world) Config {
			w.withDatabase()
			s := w.store()
			_, f, err := s.SignAudit(w.Context(), w.tenant, audit.NewSigner([]byte("another")), func() error { return nil })
			w.must(err)
			if f != nil {
				w.Fatal(f)
			}
			c := w.database(w.appURL)
			c.VersionKey = filepath.Join(w.keyDir(), seal.VersionFile)
			return c
		}, false},
		{"no file", Failed, "--version-key: ", func(w *world) Config {
			w.withDatabase()
			c := w.database(w.appURL)
			c.VersionKey = w.dir + "/none"
			return c
		}, false},
	},

	"api.proxy": {{"it does not answer", Failed, "refuses the connection", func(w *world) Config {
		w.env["HTTPS_PROXY"] = "http://me:canary-password@" + w.closed()
		return w.at(&url.URL{Scheme: "https", Host: "fairlead.example.com"}, anAPIToken)
	}, false}},
	"api.dns": {{"no such name", Failed, "no-such-host.invalid", func(w *world) Config {
		return w.at(&url.URL{Scheme: "https", Host: "no-such-host.invalid"}, anAPIToken)
	}, false}},
	"api.tcp": {{"nothing listens", Failed, "refuses the connection", func(w *world) Config {
		return w.at(&url.URL{Scheme: "http", Host: w.closed()}, anAPIToken)
	}, false}},
	"api.tls": {
		{"the server has none", Failed, "speaks plaintext, and the URL asks for TLS", func(w *world) Config {
			u := *w.api(nil)
			u.Scheme = "https"
			return w.at(&u, anAPIToken)
		}, false},
		{"the URL has none", Failed, "speaks TLS, and the URL asks for plaintext", func(w *world) Config {
			u := *w.api(w.good())
			u.Scheme = "http"
			return w.at(&u, anAPIToken)
		}, false},
	},
	"api.tls_chain": {{"the setting", Failed, "SSL_CERT_FILE", func(w *world) Config { return w.at(w.api(w.good()), anAPIToken) }, false}, {"an authority that nobody knows", Failed, `signed by "test authority", is of no authority in the system's list`, func(w *world) Config { return w.at(w.api(w.good()), anAPIToken) }, false}},
	"api.tls_name": {
		{"another name", Failed, "is for localhost, and the client wants 127.0.0.1", func(w *world) Config { return w.at(w.api(w.good()), anAPIToken) }, false},
		{"the setting", Failed, "give a name of the certificate in the URL (--server, FAIRLEAD_URL)", func(w *world) Config { return w.at(w.api(w.good()), anAPIToken) }, false},
	},
	"api.tls_time": {{"expired", Failed, "expired at", func(w *world) Config { return w.at(w.api(w.certificate(-year, -time.Hour)), anAPIToken) }, false}},
	"api.answers": {
		{"an xDS server", Failed, "is an xDS server, not the API", func(w *world) Config {
			return w.at(&url.URL{Scheme: "http", Host: w.xds(nil, false)}, anAPIToken)
		}, false},
		{"a page", Failed, "not as the API does", func(w *world) Config { return w.at(w.page(), anAPIToken) }, false},
	},
	"api.ready": {{"another key", Failed, "no xDS server can open them", func(w *world) Config {
		u := w.api(nil)
		w.lease("s", store.ServerLoad{SealKey: "0123456789abcdef"})
		return w.at(u, anAPIToken)
	}, false}},
	"api.clock": {{"ours is wrong", Failed, "the API server's clock is", func(w *world) Config { w.clock = time.Hour; return w.at(w.api(nil), anAPIToken) }, false}},
	"api.contract": {{"an older server", Warning, "it lacks 1 operations, such as GET /v1/whoami", func(w *world) Config {
		to := w.api(nil)
		return w.at(w.before(to, func(path string, body []byte) []byte {
			if path != "/openapi.yaml" {
				return body
			}
			return []byte(strings.Replace(string(body), "/v1/whoami:", "/v1/who:", 1))
		}), anAPIToken)
	}, false}},
	"api.token": {
		{"another text", Failed, "malformed", func(w *world) Config { return w.at(w.api(nil), "canary-password") }, false},
		{"a node token", Failed, "this is a node token", func(w *world) Config { return w.at(w.api(nil), aToken) }, false},
		{"unknown", Failed, "the API refuses the token", func(w *world) Config { return w.at(w.api(nil), anAPIToken) }, false},
	},
	"api.token_ends": {{"soon", Warning, "it ends at", func(w *world) Config { return w.at(w.api(nil), w.apiToken(time.Hour)) }, false}},
	"api.fleet": {
		{"no such fleet", Failed, "acme/none", func(w *world) Config {
			c := w.at(w.api(nil), w.apiToken(0))
			c.API.Fleet = "none"
			return c
		}, false},
		{"another tenant", Failed, "of the tenant acme, and not of other", func(w *world) Config {
			c := w.at(w.api(nil), w.apiToken(0))
			c.API.Tenant = "other"
			return c
		}, false},
	},
	"api.nodes": {
		{"none", Warning, "no node has connected", func(w *world) Config { return w.at(w.api(nil), w.apiToken(0)) }, false},
		{"offline", Failed, "all nodes are offline: edge-1", func(w *world) Config {
			_, u, p, _ := w.running("1.40.0", "")
			c := w.at(u, w.apiToken(0))
			w.until(c, "api.nodes", OK)
			w.must(p.conn.Close())
			return c
		}, true},
	},
	"api.refusals": {{"one", Failed, "edge-1 refuses clusters/backend: no such thing", func(w *world) Config {
		_, u, _, _ := w.running("1.40.0", "no such thing")
		return w.at(u, w.apiToken(0))
	}, true}},
	"api.findings": {{"a reference to nothing", Failed, "missing_reference at routes/main", func(w *world) Config {
		u, token := w.api(nil), w.apiToken(0)
		w.put(u, token, "routes", "main", `{"body": {"name": "main", "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "none"}}]}]}}`)
		return w.at(u, token)
	}, false}},
	"api.envoys": {
		{"an old one", Warning, "Envoys of 1.20.1 are connected", func(w *world) Config { _, u, _, _ := w.running("1.20.1", ""); return w.at(u, w.apiToken(0)) }, true},
		{"a newer one", Warning, "Envoys of 1.99.0 are connected", func(w *world) Config { _, u, _, _ := w.running("1.99.0", ""); return w.at(u, w.apiToken(0)) }, true},
	},
}

// Tokens that nobody knows.
var aToken, anAPIToken = tokens()

// edited is a bootstrap with one text in another's place.
func edited(old, with string) func(*world) Config {
	return func(w *world) Config {
		w.Helper()
		c := w.envoy("127.0.0.1:1", aToken)
		text, err := os.ReadFile(c.Bootstrap)
		w.must(err)
		if !strings.Contains(string(text), old) {
			w.Fatalf("no %s in %s", old, text)
		}
		c.Bootstrap = w.file("edited", strings.ReplaceAll(string(text), old, with))
		return c
	}
}

// limited is a process that may open so many files, and has opened so many besides the three that all have.
func (w *world) limited(limit, open int) Config {
	w.Helper()
	script := fmt.Sprintf("ulimit -n %d\n", limit)
	for i := range open {
		script += fmt.Sprintf("exec %d</dev/null\n", i+3)
	}
	cmd := exec.CommandContext(w.Context(), "bash", "-c", script+"echo ready; read x")
	in, err := cmd.StdinPipe()
	w.must(err)
	out, err := cmd.StdoutPipe()
	w.must(err)
	w.must(cmd.Start())
	w.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	_, err = io.ReadFull(out, make([]byte, len("ready")))
	w.must(err)
	c := w.envoy("127.0.0.1:1", aToken)
	c.PID = cmd.Process.Pid
	return c
}

// page is a web server of somebody else.
func (w *world) page() *url.URL {
	w.Helper()
	s := httptest.NewServer(http.NotFoundHandler())
	w.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	w.must(err)
	return u
}

// before is a server that passes requests on, and changes the answers.
func (w *world) before(to *url.URL, change func(path string, body []byte) []byte) *url.URL {
	w.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked, err := http.NewRequestWithContext(r.Context(), r.Method, to.String()+r.URL.RequestURI(), http.NoBody)
		if err != nil {
			return
		}
		asked.Header = r.Header
		resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(asked)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		rw.WriteHeader(resp.StatusCode)
		_, _ = rw.Write(change(r.URL.Path, body))
	}))
	w.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	w.must(err)
	return u
}

// both looks at a node with a token, and asks the API of it.
func (w *world) both(token string) Config {
	w.Helper()
	c := w.envoy("127.0.0.1:1", token)
	c.API = w.at(w.api(nil), w.apiToken(0)).API
	return c
}

func (w *world) pooler(mode string) string {
	w.Helper()
	w.withDatabase()
	return w.db.NewPooler(w, storetest.PoolerConfig{Mode: mode, Size: 3}).URL(w, w.appURL)
}

// lease is of a server that is in the database alone.
func (w *world) lease(name string, load store.ServerLoad) {
	w.Helper()
	s, err := store.Open(w.Context(), store.Config{URL: w.nodeURL, Patience: storetest.Patience})
	w.must(err)
	defer s.Close()
	_, err = s.LeaseWith(w.Context(), fleet.NewServerID(), name, time.Hour, load)
	w.must(err)
}

// running are both servers, and a proxy that has a cluster, or refuses it.
func (w *world) running(version, refuses string) (at string, u *url.URL, p *proxy, token string) {
	w.Helper()
	at, u = w.xds(nil, false), w.api(nil)
	_, token = w.nodeToken("edge", "edge-*", 0)
	w.put(u, w.apiToken(0), "clusters", "backend", cluster)
	p = w.connect(at, token, version)
	p.answer(refuses)
	return at, u, p, token
}

// TestAVersionKeyThatCannotBeComparedIsNotGreen.
func TestAVersionKeyThatCannotBeComparedIsNotGreen(t *testing.T) {
	t.Parallel()
	for says, url := range map[string]func(*world) string{
		"no API server has signed":     func(w *world) string { return w.appURL },
		"give the URL of fairlead_app": func(w *world) string { return w.nodeURL },
	} {
		w := setup(t)
		w.withDatabase()
		c := w.database(url(w))
		c.VersionKey = filepath.Join(w.keyDir(), seal.VersionFile)
		if got := of(Run(t.Context(), c), "database.version_key"); got.State != NotChecked || !strings.Contains(got.Saw, says) {
			t.Errorf("%+v, want one that is not checked and says %q", got, says)
		}
	}
}

// TestEveryCheckFindsItsFault: one that is made for real. A check without one is not known to find anything.
func TestEveryCheckFindsItsFault(t *testing.T) {
	t.Parallel()
	for _, c := range Checks() {
		if len(faults[c.ID]) == 0 {
			t.Errorf("%s: make a fault that it finds", c.ID)
		}
	}
	for id, all := range faults {
		for _, f := range all {
			t.Run(id+"/"+f.what, func(t *testing.T) {
				t.Parallel()
				w := setup(t)
				c := f.make(w)
				var r Report
				if f.wait {
					r = w.until(c, id, f.state)
				} else {
					r = Run(t.Context(), c)
				}
				got := of(r, id)
				if got.State != f.state || !strings.Contains(got.Saw+" "+got.Do, f.says) || got.Do == "" {
					t.Errorf("%+v, want %s that says %q", got, f.state, f.says)
				}
				if f.state == Failed && r.Faults == 0 || f.state == Warning && r.Warnings == 0 {
					t.Errorf("it is not counted: %+v", r)
				}
				for _, one := range r.Checks {
					for _, secret := range []string{"canary-password", aToken[20:], anAPIToken[20:]} {
						if strings.Contains(one.Saw+one.Do, secret) {
							t.Errorf("a secret is told: %+v", one)
						}
					}
				}
			})
		}
	}
}
