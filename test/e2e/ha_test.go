//go:build soak

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	client "fairlead/clients/go"
	"fairlead/internal/bootstrap"
	"fairlead/internal/childproc"
	"fairlead/internal/localenvoy"
	"fairlead/internal/localpg"
	"fairlead/internal/store/storetest"
	"fairlead/test/world"
)

// How long a failover may take before the test gives up. Nothing is judged by it.
const failsOver = 3 * time.Minute

// password is everybody's.
const password = "change-me"

// ha is an installation on what deploy/ha has: three etcd, three Postgres with Patroni, HAProxy and PgBouncer, all on this machine. Servers 0 reach
// the database through PgBouncer and listen through HAProxy, servers 1 name all three Postgres. xDS server 1 reads fleets from the standbys.
type ha struct {
	*routed
	home    string // of the files, as short as a socket wants it
	as      *childproc.Credential
	bin     string // of Postgres
	members [3]*haMember
	etcd    []string // addresses of clients
	primary string   // HAProxy's address
	pool    string   // PgBouncer's
	address [2]string
	proxies [2]string
	envoys  [2]*localenvoy.Envoy
	reader  *world.XDS // reads fleets from standbys
	writer  *haWriter
	load    *load
}

// haMember is a Postgres with its Patroni.
type haMember struct {
	name, postgres, rest string
	patroni              *childproc.Process
}

// TestSoakFailover: the primary is killed under load, once Postgres alone and once all of its machine, with synchronous and with asynchronous standbys. Traffic
// notices nothing. With synchronous standbys no acknowledged write is lost; with asynchronous ones those that are lost are the last ones, and receipts say
// of no node that it has what it has not.
func TestSoakFailover(t *testing.T) {
	for name, synchronous := range map[string]bool{"synchronous": true, "asynchronous": false} {
		t.Run(name, func(t *testing.T) {
			h := setupHA(t, synchronous)
			h.awaitStandbys(synchronous)
			h.failOver("Postgres is killed", synchronous, (*ha).killPostgres)
			h.failOver("the machine is lost", synchronous, (*ha).killMachine)
			if !synchronous {
				h.failOver("the machine is lost, and standbys were behind", false, func(h *ha, m *haMember) { h.holdBack(m); h.killMachine(m) })
			}
			h.judge(synchronous)
		})
	}
}

// failOver kills the primary in some way while the writer writes, and tells how long what took.
func (h *ha) failOver(how string, synchronous bool, kill func(*ha, *haMember)) {
	t := h.T
	t.Helper()
	old := h.leader()
	if old == nil {
		t.Fatal("there is no primary")
	}
	before := h.writer.written()
	h.await(how+": nothing is written before it", func() bool { return h.writer.written() > before+20 })
	kill(h, old)
	killed := time.Now()
	h.await(how+": nothing is written after it", func() bool { return h.writer.newest().sent.After(killed) })

	// Whoever writes pauses: what a receipt says now is said of one revision, and the Envoys can be asked.
	h.writer.turn.Lock()
	defer h.writer.turn.Unlock()
	revision := h.write(world.Cluster("a", sprintf("%d.5s", 100+h.writer.written())))
	timeout := sprintf("%d.500s", 100+h.writer.written())
	h.await(how+": the Envoys do not become current", func() bool {
		return sameSeconds(activeClusters(t, h.envoys[0])["a"], timeout) && sameSeconds(activeClusters(t, h.envoys[1])["a"], timeout)
	})
	current := time.Since(killed)
	h.await(how+": the receipt does not say that they are current", func() bool {
		r, err := h.client(0).GetReceiptWithResponse(t.Context(), h.Tenant, h.Fleet, revision, nil)
		return err == nil && r.JSON200 != nil && r.JSON200.State == client.ReceiptStateDelivered && r.JSON200.Counts.Acked == len(h.envoys)
	})
	told := time.Since(killed)
	for e := range h.envoys {
		if got := activeClusters(t, h.envoys[e])["a"]; !sameSeconds(got, timeout) {
			t.Errorf("%s: the receipt says that Envoy %d has a cluster with a timeout of %s, and it has %s", how, e, timeout, got)
		}
	}
	lost := h.writer.lost(h.history())
	first := h.writer.after(killed)
	last := h.writer.before(first)
	t.Logf("%s (synchronous %t): %s was the primary, %s is; no write for %s; Envoys current %s after it, receipt %s; %d writes lost; %d of %d requests failed; %d answers said to come again",
		how, synchronous, old.name, h.leader().name, first.at.Sub(last.at).Round(10*time.Millisecond), current.Round(10*time.Millisecond), told.Round(10*time.Millisecond),
		len(lost), h.load.failed.Load(), h.load.done.Load(), h.writer.again())
	if synchronous && len(lost) > 0 {
		t.Errorf("%s: acknowledged writes are lost: %v", how, lost)
	}
	for _, w := range lost {
		if w.sent.After(killed) {
			t.Errorf("%s: write %d is lost, which was sent after it", how, w.n)
		}
	}
	h.writer.forget(lost)
	if fault := h.writer.fault(); fault != "" {
		t.Fatal(how + ": " + fault)
	}
	h.startMember(old)
	h.awaitStandbys(synchronous)
}

func sameSeconds(a, b string) bool {
	x, _ := time.ParseDuration(a)
	y, _ := time.ParseDuration(b)
	return x == y
}

// judge ends the load, and compares what was acknowledged with what there is.
func (h *ha) judge(synchronous bool) {
	t := h.T
	t.Helper()
	h.writer.stop()
	if fault := h.writer.fault(); fault != "" {
		t.Error(fault)
	}
	there := h.history()
	if lost := h.writer.lost(there); len(lost) > 0 {
		t.Errorf("acknowledged writes are lost: %v", lost)
	}
	twice := map[string]int64{}
	for _, revision := range there {
		if revision.Message == nil || *revision.Message == "" {
			continue
		}
		if at, again := twice[*revision.Message]; again {
			t.Errorf("%s was made twice, as revision %d and %d", *revision.Message, at, revision.Revision)
		}
		twice[*revision.Message] = revision.Revision
	}
	if done, failed := h.load.stop(); failed > 0 || done == 0 {
		t.Errorf("%d of %d requests failed: %s", failed, done, h.load.first.Load())
	}
	metrics := scrape(t, "http://"+h.reader.Logged("the ports are open", "health_address")+"/metrics")
	readings := func(result string) float64 {
		return metrics.of(`fairlead_standby_readings_total{result="` + result + `"}`)
	}
	if readings("read") == 0 {
		t.Error("nothing was read from a standby")
	}
	t.Logf("synchronous %t: %d writes; of server 1's readings a standby answered %g; it was behind %g times, failed %g times, and was left alone %g times after that",
		synchronous, h.writer.written(), readings("read"), readings("behind"), readings("failed"), readings("resting"))
}

// await is world.Eventually for what a failover delays.
func (h *ha) await(otherwise string, holds func() bool) {
	h.T.Helper()
	world.Eventually(h.T, failsOver, otherwise, holds)
}

func setupHA(t *testing.T, synchronous bool) *ha {
	t.Helper()
	h := &ha{}
	dir, err := os.MkdirTemp("", "ha-")
	world.Must(t, err)
	world.Must(t, os.Chmod(dir, 0o755)) //nolint:gosec // Postgres's user passes
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h.home = dir
	h.bin, err = localpg.Find(t.Context(), localpg.FindConfig{})
	world.Must(t, err)
	uid := -1
	if os.Geteuid() == 0 {
		u, err := user.Lookup("postgres")
		world.Must(t, err)
		n, err := strconv.ParseUint(u.Uid, 10, 32)
		world.Must(t, err)
		g, err := strconv.ParseUint(u.Gid, 10, 32)
		world.Must(t, err)
		h.as, uid = &childproc.Credential{UID: uint32(n), GID: uint32(g)}, int(n)
	}
	h.routed = &routed{installation: &installation{World: world.Empty(t)}}
	world.Run(t, "api", "certs", "--authority", filepath.Join(h.Dir, "authority"), "--for", sprintf("%s:%d:127.0.0.1,localhost", h.path("tls"), uid))
	h.startEtcd()
	for i := range h.members {
		h.members[i] = &haMember{name: sprintf("db-%d", i+1), postgres: world.FreePort(t), rest: world.FreePort(t)}
	}
	h.primary, h.pool = world.FreePort(t), world.FreePort(t)
	for _, m := range h.members {
		h.startMember(m)
	}
	h.startHAProxy()
	h.await("no Postgres becomes the primary", func() bool { return h.leader() != nil })
	if !synchronous {
		h.configure(`{"synchronous_mode": false}`)
	}
	h.await("there is no way to the primary", func() bool { return h.sql(h.primary, "postgres", "SELECT 1") == nil })
	world.Must(t, h.sql(h.primary, "postgres", "CREATE DATABASE fairlead"))
	world.Run(t, "api", "migrate", "--database-url", h.url(localpg.Superuser, h.primary))
	for _, role := range []string{"fairlead_app", "fairlead_node"} {
		world.Must(t, h.sql(h.primary, "fairlead", sprintf("ALTER ROLE %s PASSWORD '%s'", role, password)))
	}
	h.startPgBouncer()
	db := &storetest.DB{App: h.url("fairlead_app", h.pool), Node: h.url("fairlead_node", h.pool), Owner: h.url(localpg.Superuser, h.primary), Name: "fairlead"}
	h.World = world.NewOn(t, db)
	h.installation = &installation{World: h.World}
	h.address[0] = strings.TrimPrefix(h.API, "http://")
	all := h.members[0].postgres + "," + h.members[1].postgres + "," + h.members[2].postgres
	h.address[1] = world.FreePort(t)
	h.StartAPI("--listen", h.address[1], "--database-url", h.url("fairlead_app", all))
	world.AwaitOK(t, "http://"+h.address[1]+"/readyz")
	xds := [2]*world.XDS{
		h.XDS("--name", "xds-0", "--listen-database-url", h.url("fairlead_node", h.primary)),
		h.XDS("--name", "xds-1", "--database-url", h.url("fairlead_node", all), "--read-database-url", h.url("fairlead_node", all)),
	}
	h.reader = xds[1]
	for e := range h.proxies {
		h.proxies[e] = "http://" + world.FreePort(t)
	}
	h.Apply(world.Together(world.Route("r", "a"), world.Cluster("a", "1s"), world.Endpoints("a", world.Backend(t, "a"))))
	h.Apply(own(strings.TrimPrefix(h.proxies[0], "http://"), strings.TrimPrefix(h.proxies[1], "http://")))
	for e := range h.envoys {
		text, err := bootstrap.Envoy(bootstrap.Config{
			NodeID: nodeID(e), NodeCluster: h.Fleet, XDSAddresses: []string{xds[e].Address, xds[1-e].Address}, Delta: e == 0, Plaintext: true,
			TokenEnv: "FAIRLEAD_NODE_TOKEN", AdminAddress: world.AnyPort, RetryBase: 500 * time.Millisecond,
		})
		world.Must(t, err)
		dir, err := os.MkdirTemp(h.Dir, "envoy-")
		world.Must(t, err)
		h.envoys[e] = h.StartEnvoy(localenvoy.Config{Bootstrap: text, Dir: dir, Env: []string{"FAIRLEAD_NODE_TOKEN=" + h.NodeToken}})
		h.AwaitReady(h.envoys[e], 4*world.Soon)
		h.proxy = h.proxies[e]
		h.awaitBody("a")
		h.AwaitLive(nodeID(e))
	}
	h.load = startLoads(t, func(n int64) string { return h.proxies[n%2] })
	h.writer = newHAWriter(h)
	return h
}

func (h *ha) path(parts ...string) string {
	return filepath.Join(append([]string{h.home}, parts...)...)
}

// url is a database URL of the role at these addresses.
func (h *ha) url(role, addresses string) string {
	q := url.Values{"sslmode": {"verify-full"}, "sslrootcert": {h.path("tls", "ca.crt")}}
	return (&url.URL{Scheme: "postgres", User: url.UserPassword(role, password), Host: addresses, Path: "fairlead", RawQuery: q.Encode()}).String()
}

// sql runs a statement as superuser.
func (h *ha) sql(address, db, statement string) error {
	ctx, cancel := context.WithTimeout(h.T.Context(), world.Soon)
	defer cancel()
	conn, err := pgx.Connect(ctx, strings.Replace(h.url(localpg.Superuser, address), "/fairlead?", "/"+db+"?", 1))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

// deployed is a file of deploy/ha with other words in the place of some.
func (h *ha) deployed(name, to string, other ...string) (path string) {
	h.T.Helper()
	text := string(world.Read(h.T, filepath.Join("..", "..", "deploy", "ha", name)))
	for i := 0; i < len(other); i += 2 {
		if !strings.Contains(text, other[i]) {
			h.T.Fatalf("deploy/ha/%s does not have %q", name, other[i])
		}
	}
	path = h.path(to)
	world.Must(h.T, os.WriteFile(path, []byte(strings.NewReplacer(other...).Replace(text)), 0o644)) //nolint:gosec // another user reads it
	return path
}

// environment is the file of variables in deploy/ha, with others in the place of some.
func (h *ha) environment(name string, other map[string]string) (env []string) {
	h.T.Helper()
	env = []string{"PATH=" + h.bin + ":/usr/bin:/bin", "LC_ALL=C"}
	for line := range strings.Lines(string(world.Read(h.T, filepath.Join("..", "..", "deploy", "ha", name)))) {
		key, value, is := strings.Cut(strings.TrimSpace(line), "=")
		if !is || strings.HasPrefix(key, "#") {
			continue
		}
		if o, there := other[key]; there {
			value = o
			delete(other, key)
		}
		env = append(env, key+"="+value)
	}
	if len(other) > 0 {
		h.T.Fatalf("deploy/ha/%s does not have %v", name, other)
	}
	return env
}

// found is a program of a Debian package.
func (h *ha) found(program, debian string) string {
	h.T.Helper()
	for _, p := range []string{program, "/usr/sbin/" + program} {
		if path, err := exec.LookPath(p); err == nil {
			return path
		}
	}
	h.T.Fatalf("%s is missing: install the package %s", program, debian)
	return ""
}

// run starts a program as Postgres's user; its log is shown when the test fails.
func (h *ha) run(name string, s childproc.Spec) *childproc.Process {
	h.T.Helper()
	log, err := os.OpenFile(filepath.Join(h.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	world.Must(h.T, err)
	s.Stdout, s.Stderr, s.Dir, s.Credential = log, log, h.home, h.as
	p, err := childproc.Start(s)
	world.Must(h.T, err)
	h.T.Cleanup(func() {
		_ = p.Stop()
		_ = log.Close()
		world.Dump(h.T, log.Name())
	})
	return p
}

// folder is one that Postgres's user owns.
func (h *ha) folder(name string) string {
	h.T.Helper()
	dir := h.path(name)
	world.Must(h.T, os.MkdirAll(dir, 0o700))
	if h.as != nil {
		world.Must(h.T, os.Chown(dir, int(h.as.UID), int(h.as.GID)))
	}
	return dir
}

func (h *ha) startEtcd() {
	h.T.Helper()
	var peers [3]string
	var all []string
	for i := range peers {
		peers[i] = world.FreePort(h.T)
		h.etcd = append(h.etcd, world.FreePort(h.T))
		all = append(all, sprintf("etcd-%d=http://%s", i+1, peers[i]))
	}
	for i := range peers {
		name := sprintf("etcd-%d", i+1)
		h.run(name, childproc.Spec{Path: h.found("etcd", "etcd-server"), Env: h.environment("etcd.env", map[string]string{
			"ETCD_NAME": name, "ETCD_DATA_DIR": h.folder(name),
			"ETCD_LISTEN_CLIENT_URLS": "http://" + h.etcd[i], "ETCD_ADVERTISE_CLIENT_URLS": "http://" + h.etcd[i],
			"ETCD_LISTEN_PEER_URLS": "http://" + peers[i], "ETCD_INITIAL_ADVERTISE_PEER_URLS": "http://" + peers[i],
			"ETCD_INITIAL_CLUSTER": strings.Join(all, ","),
		})})
	}
	for _, address := range h.etcd {
		world.Eventually(h.T, 4*world.Soon, "etcd is not healthy", func() bool {
			_, body := world.Get("http://" + address + "/health")
			return strings.Contains(body, `"true"`)
		})
	}
}

// startMember starts a Patroni, which makes or starts its Postgres.
func (h *ha) startMember(m *haMember) {
	h.T.Helper()
	ca := h.path("tls", "ca.crt")
	config := h.deployed("patroni.yaml", m.name+".yaml", "/etc/patroni/", h.path("tls")+"/", "/var/run/postgresql", h.folder("run"))
	m.patroni = h.run(m.name, childproc.Spec{Path: h.found("patroni", "patroni"), Args: []string{config}, DeathSignal: syscall.SIGTERM, StopTimeout: time.Minute,
		Env: h.environment("patroni.env", map[string]string{
			"PATRONI_NAME": m.name, "PATRONI_POSTGRESQL_LISTEN": m.postgres, "PATRONI_POSTGRESQL_CONNECT_ADDRESS": m.postgres,
			"PATRONI_POSTGRESQL_DATA_DIR": h.data(m), "PATRONI_POSTGRESQL_BIN_DIR": h.bin, "PATRONI_POSTGRESQL_PGPASS": filepath.Join(h.folder("run"), m.name+".pgpass"),
			"PATRONI_RESTAPI_LISTEN": m.rest, "PATRONI_RESTAPI_CONNECT_ADDRESS": m.rest, "PATRONI_ETCD3_HOSTS": strings.Join(h.etcd, ","),
			"PATRONI_SUPERUSER_SSLROOTCERT": ca, "PATRONI_REPLICATION_SSLROOTCERT": ca,
		})})
}

func (h *ha) data(m *haMember) string { return filepath.Join(h.folder(m.name), "data") }

func (h *ha) startHAProxy() {
	h.T.Helper()
	other := []string{"bind :5432", "bind " + h.primary}
	for _, m := range h.members {
		_, rest, err := net.SplitHostPort(m.rest)
		world.Must(h.T, err)
		other = append(other, m.name+":5432 check port 8008", m.postgres+" check port "+rest)
	}
	h.run("haproxy", childproc.Spec{Path: h.found("haproxy", "haproxy"), Args: []string{"-db", "-f", h.deployed("haproxy.cfg", "haproxy.cfg", other...)}, StopSignal: syscall.SIGUSR1})
}

func (h *ha) startPgBouncer() {
	h.T.Helper()
	host, port, err := net.SplitHostPort(h.pool)
	world.Must(h.T, err)
	_, primary, err := net.SplitHostPort(h.primary)
	world.Must(h.T, err)
	users := h.path("userlist.txt")
	world.Must(h.T, os.WriteFile(users, []byte(sprintf("\"fairlead_app\" \"%[1]s\"\n\"fairlead_node\" \"%[1]s\"\n", password)), 0o644)) //nolint:gosec // another user reads it
	program, _ := storetest.FindPooler(h.T)
	h.run("pgbouncer", childproc.Spec{Path: program, StopSignal: syscall.SIGINT, Args: []string{h.deployed("pgbouncer.ini", "pgbouncer.ini",
		"host=haproxy port=5432", "host=127.0.0.1 port="+primary, "listen_addr = *", "listen_addr = "+host, "listen_port = 6432", "listen_port = "+port,
		"/etc/pgbouncer/userlist.txt", users, "/etc/pgbouncer/", h.path("tls")+"/")}})
	h.await("PgBouncer does not listen", func() bool {
		conn, err := net.DialTimeout("tcp", h.pool, time.Second)
		return err == nil && conn.Close() == nil
	})
}

// configure changes what Patroni keeps in etcd.
func (h *ha) configure(patch string) {
	h.T.Helper()
	out, err := exec.CommandContext(h.T.Context(), "curl", "--silent", "--fail", "--user", "patroni:"+password, "--request", "PATCH", "--data", patch, "http://"+h.leader().rest+"/config").CombinedOutput()
	if err != nil {
		h.T.Fatalf("configure Patroni: %v: %s", err, out)
	}
}

// clusterMember is what Patroni says of one.
type clusterMember struct {
	Name, Role, State string
	Lag               any
}

// cluster asks the first Patroni that answers.
func (h *ha) cluster() (all []clusterMember) {
	for _, m := range h.members {
		code, body := world.Get("http://" + m.rest + "/cluster")
		var v struct{ Members []clusterMember }
		if code == 200 && json.Unmarshal([]byte(body), &v) == nil {
			return v.Members
		}
	}
	return nil
}

// leader is the member that says that it is the primary.
func (h *ha) leader() *haMember {
	for _, m := range h.members {
		if code, _ := world.Get("http://" + m.rest + "/primary"); code == 200 {
			return m
		}
	}
	return nil
}

// awaitStandbys waits until there are two, with nothing left to read, one of them synchronous where that is asked for.
func (h *ha) awaitStandbys(synchronous bool) {
	h.T.Helper()
	h.await("the standbys do not follow", func() bool {
		follow, in := 0, 0
		for _, m := range h.cluster() {
			if m.Role != "leader" && (m.State == "running" || m.State == "streaming") && m.Lag == 0.0 {
				follow++
			}
			if m.Role == "sync_standby" {
				in++
			}
		}
		return follow == 2 && (in > 0) == synchronous
	})
}

func (h *ha) postmaster(m *haMember) int {
	h.T.Helper()
	first, _, _ := bytes.Cut(world.Read(h.T, filepath.Join(h.data(m), "postmaster.pid")), []byte("\n"))
	pid, err := strconv.Atoi(string(first))
	world.Must(h.T, err)
	return pid
}

// killPostgres kills Postgres alone. Patroni sees that.
func (h *ha) killPostgres(m *haMember) {
	h.T.Helper()
	world.Must(h.T, syscall.Kill(h.postmaster(m), syscall.SIGKILL))
}

// killMachine kills Patroni, and Postgres with all of its processes.
func (h *ha) killMachine(m *haMember) {
	h.T.Helper()
	pid := h.postmaster(m)
	m.patroni.Kill()
	children, err := os.ReadFile(sprintf("/proc/%d/task/%d/children", pid, pid))
	world.Must(h.T, err)
	world.Must(h.T, syscall.Kill(pid, syscall.SIGKILL))
	for child := range strings.FieldsSeq(string(children)) {
		n, err := strconv.Atoi(child)
		world.Must(h.T, err)
		_ = syscall.Kill(n, syscall.SIGKILL) // it may have ended with its parent
	}
}

// holdBack has nothing reach the standbys of a primary any more, until 20 more writes have been acknowledged and what they wrote was told as delivered.
func (h *ha) holdBack(m *haMember) {
	h.T.Helper()
	ctx := h.T.Context()
	conn, err := pgx.Connect(ctx, h.url(localpg.Superuser, m.postgres))
	world.Must(h.T, err)
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT pid FROM pg_stat_replication")
	world.Must(h.T, err)
	senders, err := pgx.CollectRows(rows, pgx.RowTo[int])
	world.Must(h.T, err)
	for _, pid := range senders {
		world.Must(h.T, syscall.Kill(pid, syscall.SIGSTOP))
	}
	before := h.writer.written()
	h.await("nothing is written meanwhile", func() bool { return h.writer.written() > before+20 })
	h.AwaitDelivered(h.writer.newest().revision, len(h.envoys))
}

func (h *ha) client(i int) *client.ClientWithResponses {
	c, err := client.NewClientWithResponses("http://"+h.address[i], client.WithToken(h.Token))
	world.Must(h.T, err)
	return c
}

// write writes until it is acknowledged, beside the writer, who pauses.
func (h *ha) write(r world.Resource) int64 {
	h.T.Helper()
	w := h.writer.put(uuid.NewString(), "", r)
	if w == 0 {
		h.T.Fatal(h.writer.fault())
	}
	return w
}

// history are the fleet's revisions.
func (h *ha) history() (all []client.Revision) {
	h.T.Helper()
	limit := client.LimitParam(500)
	var cursor *client.CursorParam
	for {
		r, err := h.client(1).ListRevisionsWithResponse(h.T.Context(), h.Tenant, h.Fleet, &client.ListRevisionsParams{Limit: &limit, Cursor: cursor})
		h.Made(r, err)
		all = append(all, r.JSON200.Items...)
		if r.JSON200.NextCursor == nil || *r.JSON200.NextCursor == "" {
			return all
		}
		cursor = r.JSON200.NextCursor
	}
}

// haWrite is a write that was acknowledged.
type haWrite struct {
	n        int
	revision int64
	sent, at time.Time // at: when it was acknowledged
}

// haWriter writes, one after the other, with an idempotency key each, to the API server that answers.
type haWriter struct {
	h        *ha
	clients  [2]*client.ClientWithResponses
	at       int
	backends [2]string
	cancel   context.CancelFunc
	done     chan struct{}

	turn sync.Mutex // held for one write

	mu     sync.Mutex // guards what follows
	wrote  []haWrite
	n      int
	come   int // answers that said to come again
	faults []string

	missing []haWrite // when they were looked for last
}

func newHAWriter(h *ha) *haWriter {
	ctx, cancel := context.WithCancel(context.Background())
	w := &haWriter{h: h, clients: [2]*client.ClientWithResponses{h.client(0), h.client(1)}, cancel: cancel, done: make(chan struct{})}
	for i := range w.backends {
		w.backends[i] = world.Backend(h.T, "a")
	}
	go func() {
		defer close(w.done)
		w.run(ctx)
	}()
	h.T.Cleanup(w.stop)
	return w
}

func (w *haWriter) stop() {
	w.cancel()
	<-w.done
}

func (w *haWriter) run(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil && w.fault() == ""; n++ {
		func() {
			w.turn.Lock()
			defer w.turn.Unlock()
			r := world.Cluster("a", sprintf("%d.%03ds", 2+n/1000%50, n%1000))
			if n%3 == 2 {
				r = world.Endpoints("a", w.backends[n/3%2])
			}
			sent := time.Now()
			if revision := w.put(uuid.NewString(), "write "+strconv.Itoa(n), r); revision > 0 {
				w.mu.Lock()
				w.wrote, w.n = append(w.wrote, haWrite{n, revision, sent, time.Now()}), n+1
				w.mu.Unlock()
			}
		}()
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// put asks until it is answered, with the same key each time; 0 where something was not as it should be.
func (w *haWriter) put(key, message string, r world.Resource) int64 {
	params := &client.PutResourceParams{IdempotencyKey: &key}
	if message != "" {
		params.Message = &message
	}
	for range 2000 {
		ctx, cancel := context.WithTimeout(context.Background(), 4*world.Soon)
		a, err := w.clients[w.at].PutResourceWithBodyWithResponse(ctx, w.h.Tenant, w.h.Fleet, client.TypeParam(r.Type), r.Name, params, "application/yaml", strings.NewReader(r.Document()))
		cancel()
		switch {
		case err != nil:
			w.fail("%s was not answered: %v", message, err)
			return 0
		case a.StatusCode() < 300:
			return world.RevisionOf(w.h.T, a.Body)
		case a.StatusCode() != 503 || retryAfter(a) == "":
			w.fail("%s: %d, Retry-After %q: %s", message, a.StatusCode(), retryAfter(a), a.Body)
			return 0
		}
		w.mu.Lock()
		w.come++
		w.mu.Unlock()
		w.at = 1 - w.at // sooner than it was asked for, so that the gap is the servers'
		<-time.After(50 * time.Millisecond)
	}
	w.fail("%s: no server answers", message)
	return 0
}

func (w *haWriter) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, sprintf(format, args...))
}

func (w *haWriter) fault() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.faults, "; ")
}

func (w *haWriter) written() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

func (w *haWriter) again() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.come
}

func (w *haWriter) newest() haWrite {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrote) == 0 {
		return haWrite{}
	}
	return w.wrote[len(w.wrote)-1]
}

// after is the first one that was acknowledged after that and is there.
func (w *haWriter) after(t time.Time) haWrite {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote[slices.IndexFunc(w.wrote, func(x haWrite) bool {
		return x.at.After(t) && !slices.ContainsFunc(w.missing, func(m haWrite) bool { return m.n == x.n })
	})]
}

// before is the last one before that, lost or not.
func (w *haWriter) before(x haWrite) haWrite {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote[slices.Index(w.wrote, x)-1]
}

// lost are the acknowledged writes that a history does not have where they were said to be.
func (w *haWriter) lost(there []client.Revision) (lost []haWrite) {
	messages := map[int64]string{}
	for _, r := range there {
		if r.Message != nil {
			messages[r.Revision] = *r.Message
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.wrote {
		if messages[x.revision] != "write "+strconv.Itoa(x.n) {
			lost = append(lost, x)
		}
	}
	w.missing = lost
	return lost
}

// forget leaves writes out of what is to be there.
func (w *haWriter) forget(lost []haWrite) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrote = slices.DeleteFunc(w.wrote, func(x haWrite) bool { return slices.Contains(lost, x) })
}
