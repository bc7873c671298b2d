package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/cmd/internal/run"
	"fairlead/internal/audit"
	"fairlead/internal/fleet"
	"fairlead/internal/seal"
	"fairlead/internal/store"
)

// databaseSeen is what was seen of the database.
type databaseSeen struct {
	probe   *store.Probe
	server  store.Server
	servers []store.LeasedServer
}

func databaseChecks() []Check {
	const reach, schema = "database.reach", "database.schema"
	return []Check{
		{"database.url", "the URL can be read, and nobody on the way can read or change what goes over it", nil, checkURL},
		{reach, "Postgres answers, and takes the role and its password", []string{"database.url"}, checkReach},
		{"database.server", "Postgres is of a version that is supported, and takes writes", []string{reach}, checkServer},
		{schema, "the migrations are neither behind this program nor ahead of it", []string{reach}, checkSchema},
		{"database.role", "the role is one of those that the migrations make, or a member, and has its settings", []string{schema}, checkRole},
		{"database.pooler", "no connection pooler stands in the way of LISTEN", []string{reach}, checkPooler},
		{"database.notify", "what is notified is heard", []string{reach}, checkNotify},
		{"database.standby", "the hot standby that fleets are read from is one of this database, and follows", []string{reach}, checkStandby},
		{"database.connections", "there are connections enough for the servers", []string{"database.server", schema}, checkConnections},
		{"database.statistics", "the planner has statistics of the tables", []string{reach}, checkStatistics},
		{"database.autovacuum", "autovacuum is on", []string{"database.server"}, checkAutovacuum},
		{"database.disk", "Postgres can write to its disk", []string{reach}, checkDisk},
		{"database.clock", "the clocks of Postgres and of this machine agree", []string{reach}, checkDatabaseClock},
		{"database.leases", "xDS servers hold their leases, and are not behind", []string{schema}, checkLeases},
		{"database.seal_key", "the key that is given is the one that the xDS servers have, and all have the same", []string{schema}, checkSealKey},
		{"database.version_key", "the key that is given is the one with which API servers have signed audits", []string{schema}, checkVersionKey},
	}
}

func checkURL(_ context.Context, x *examination) Result {
	way := run.Database{AllowPlaintextDatabase: x.AllowPlaintextDatabase}
	for _, u := range []struct{ flag, url string }{{"--database", x.Database}, {"--listen-database", x.ListenDatabase}, {"--read-database", x.ReadDatabase}} {
		if u.url == "" {
			continue
		}
		x.hide(secretsOf(u.url)...)
		if err := way.CheckURL(u.flag, u.url); err != nil {
			return failed(fleet.Sentence(err), "give the servers, and this check, a URL as docs/servers.md has it")
		}
	}
	return ok("the way stays on this machine, checks whom it reaches, or was accepted")
}

// secretsOf are the passwords that a URL, or a list of settings, may hold.
func secretsOf(url string) []string {
	secrets := []string{url}
	if _, rest, is := strings.Cut(url, "://"); is {
		if user, _, is := strings.Cut(rest, "@"); is {
			if _, password, is := strings.Cut(user, ":"); is {
				secrets = append(secrets, password)
			}
		}
	}
	return append(secrets, store.Password(url))
}

func checkReach(ctx context.Context, x *examination) Result {
	p, err := store.NewProbe(ctx, x.Database)
	if err == nil {
		x.database.probe = p
		return ok("Postgres answers, as " + p.Role())
	}
	saw := "Postgres cannot be used: " + lastOf(err)
	switch code := store.Code(err); {
	case code == "":
		return failed(saw, "see that it runs, that the URL's host and port are its own, and that nothing is between; where it names sslrootcert, that this is the authority of its certificate. Where HAProxy or a pooler answers, see whether it has a primary behind it (docs/ha.md)")
	case code == "53300":
		return failed(saw, "raise max_connections, or end who holds them (pg_stat_activity): each API server takes 11, each xDS server 16")
	case code == "3D000":
		return failed(saw, "make the database (CREATE DATABASE), or correct its name in the URL")
	case strings.HasPrefix(code, "28"):
		return failed(saw, "correct the role or its password in the URL (ALTER ROLE ... PASSWORD), or the line in pg_hba.conf")
	}
	return failed(saw, "see Postgres's log")
}

// lastOf is what the driver says last: before it stands whom it has asked.
func lastOf(err error) string {
	text := fleet.Sentence(err)
	if i := strings.LastIndex(text, "\n"); i >= 0 { // of several hosts, or ways
		text = strings.TrimSpace(text[i:])
	}
	return text
}

// oldest is the first version of Postgres that is supported.
const oldest = 15

func checkServer(ctx context.Context, x *examination) Result {
	s, err := x.database.probe.Server(ctx)
	if err != nil {
		return notChecked("Postgres does not tell: " + lastOf(err))
	}
	x.database.server = s
	saw := fmt.Sprintf("Postgres %d.%d", s.Version/10000, s.Version%10000)
	switch {
	case s.Version/10000 < oldest:
		return failed(saw, fmt.Sprintf("bring it to %d or later", oldest))
	case s.ReadOnly:
		return failed(saw+" takes no writes: it is a standby, or default_transaction_read_only is on", "name the primary in the URL, or all hosts: of these the one is taken that writes. Where all are named none is the primary now: see how the failover goes (docs/ha.md)")
	}
	return ok(saw + ", takes writes")
}

func checkRole(_ context.Context, x *examination) Result {
	if err := x.database.probe.Held(); err != nil {
		return failed(x.database.probe.Role()+": "+fleet.Sentence(err), "give the API servers a URL of fairlead_app, and the xDS servers one of fairlead_node")
	}
	return ok(x.database.probe.Role())
}

func checkSchema(_ context.Context, x *examination) Result {
	version, ahead, err := x.database.probe.Migrated()
	switch {
	case err != nil && x.database.probe.Migrating():
		return failed(fleet.Sentence(err), "wait until it has ended, and ask again")
	case err != nil:
		return failed(fleet.Sentence(err), "run \"api migrate\" of the newest version that is to serve, before its servers start")
	case ahead:
		return warn(fmt.Sprintf("a newer version has migrated it, to %d: this program runs on it", version), "replace the servers and this program by those of the newer version")
	}
	return ok(fmt.Sprintf("version %d, with the functions of this program", version))
}

func checkPooler(_ context.Context, x *examination) Result {
	switch {
	case !x.database.probe.Pooled():
		return ok("Postgres itself answers")
	case x.ListenDatabase == "":
		return warn("a connection pooler answers in Postgres's place: LISTEN is heard through pool_mode = session alone, and migrations need a direct way",
			"give the xDS servers --listen-database-url with a direct way, or --wakeup poll (docs/servers.md, behind a pooler)")
	}
	return ok("a connection pooler answers, and LISTEN goes another way")
}

// notifyPatience is how long a notification may take: it takes some milliseconds.
const notifyPatience = 3 * time.Second

func checkNotify(ctx context.Context, x *examination) Result {
	listen := x.ListenDatabase
	if listen == "" {
		listen = x.Database
	}
	ctx, cancel := context.WithTimeout(ctx, notifyPatience)
	defer cancel()
	took, err := x.database.probe.Hears(ctx, listen)
	switch {
	case errors.Is(err, store.ErrDeaf):
		return failed("what is notified is not heard: LISTEN was answered, and nothing came", "have LISTEN go around the pooler (--listen-database-url), to the same primary and database; without it changes take the time of a poll")
	case err != nil:
		return failed("NOTIFY cannot be tried: "+lastOf(err), "correct --listen-database, which has to be a direct way to the same primary and database")
	}
	return ok(fmt.Sprintf("heard after %s", took.Round(100*time.Microsecond)))
}

// standbyPatience is how long a standby may take to have what the primary has: xDS servers wait for half a second.
const standbyPatience = 500 * time.Millisecond

func checkStandby(ctx context.Context, x *examination) Result {
	if x.ReadDatabase == "" {
		return ok("none is given: fleets are read from the primary")
	}
	const do = "correct --read-database-url of the xDS servers, or see the standby's log: until then they read fleets from the primary"
	p, err := store.NewStandbyProbe(ctx, x.ReadDatabase)
	if err != nil {
		return warn("the standby cannot be used: "+lastOf(err), do)
	}
	defer p.Close()
	if err := p.Held(); err != nil {
		return warn(p.Role()+": "+fleet.Sentence(err), do)
	}
	ctx, cancel := context.WithTimeout(ctx, standbyPatience)
	defer cancel()
	took, err := p.Follows(ctx, x.database.probe)
	if err != nil {
		return warn("the standby cannot be used: "+lastOf(err), do)
	}
	return ok(fmt.Sprintf("it has what the primary has, after %s", took.Round(100*time.Microsecond)))
}

func checkConnections(ctx context.Context, x *examination) Result {
	s := x.database.server
	api, xds := store.Connections()
	servers, err := x.leases(ctx)
	if err != nil {
		return notChecked(lastOf(err))
	}
	live := 0
	for _, l := range servers {
		if l.Live {
			live++
		}
	}
	need := live*xds + api
	saw := fmt.Sprintf("%d of %d connections are in use, and %d xDS servers and one API server may open %d", s.Used, s.Most, live, need)
	do := fmt.Sprintf("raise max_connections, or put a pooler before it: each API server takes up to %d, each xDS server %d", api, xds)
	switch {
	case s.Used*10 >= s.Most*9:
		return failed(saw, do)
	case need > s.Most:
		return warn(saw, do)
	}
	return ok(saw)
}

func checkStatistics(ctx context.Context, x *examination) Result {
	names, err := x.database.probe.Unanalyzed(ctx)
	switch {
	case err != nil:
		return notChecked(lastOf(err))
	case len(names) > 0:
		return warn("the planner knows nothing of "+strings.Join(names, ", "), "run ANALYZE; see that autovacuum is on, and that an API server runs: it has tables analyzed that have grown")
	}
	return ok("all tables of some size were analyzed")
}

func checkAutovacuum(_ context.Context, x *examination) Result {
	if !x.database.server.Autovacuum {
		return failed("autovacuum or track_counts is off: tables grow for ever, and in the end Postgres stops", "set both to on in postgresql.conf, and reload it")
	}
	return ok("on")
}

func checkDisk(ctx context.Context, x *examination) Result {
	err := x.database.probe.Room(ctx)
	switch {
	case err == nil:
		return ok("Postgres has written some MiB, and removed them; how much room is left it does not tell")
	case strings.HasPrefix(store.Code(err), "53"):
		return failed("Postgres cannot write: "+lastOf(err), "make room on its disk, or raise temp_file_limit: writes are refused until then")
	}
	return notChecked(lastOf(err))
}

func checkDatabaseClock(ctx context.Context, x *examination) Result {
	skew, _, err := x.database.probe.Skew(ctx, x.Now)
	if err != nil {
		return notChecked(lastOf(err))
	}
	return judgeSkew(skew, "the database's")
}

// leases asks once.
func (x *examination) leases(ctx context.Context) ([]store.LeasedServer, error) {
	if x.database.servers != nil {
		return x.database.servers, nil
	}
	servers, err := x.database.probe.Servers(ctx)
	x.database.servers = servers
	return servers, err
}

// longBehind is how long an xDS server may not have known whether what it serves is the newest.
const longBehind = 30 * time.Second

func checkLeases(ctx context.Context, x *examination) Result {
	servers, err := x.leases(ctx)
	if err != nil {
		return notChecked(lastOf(err))
	}
	live, lost, behind := map[string]bool{}, map[string]bool{}, []string{}
	for _, s := range servers {
		switch {
		case s.Live:
			live[s.Name] = true
			if s.Load != nil && s.Load.Behind > longBehind {
				behind = append(behind, fmt.Sprintf("%s for %s", s.Name, s.Load.Behind.Round(time.Second)))
			}
		case s.Lost && !live[s.Name]: // one that came after it stands before it
			lost[s.Name] = true
		}
	}
	const do = "start it, or see its log: whether it runs, and reaches this database"
	switch {
	case len(live) == 0:
		return failed("no xDS server has a lease: none runs, or none reaches this database", do)
	case len(behind) > 0:
		return failed("an xDS server does not know whether what it serves is the newest: "+strings.Join(behind, ", "), "see its log, and whether its way to the database is slow")
	case len(lost) > 0:
		return warn(fmt.Sprintf("%d run, and the leases of these ran out within a day without their saying that they end: %s", len(live), names(lost)), do)
	}
	return ok(fmt.Sprintf("%d run: %s", len(live), names(live)))
}

func checkSealKey(ctx context.Context, x *examination) Result {
	servers, err := x.leases(ctx)
	if err != nil {
		return notChecked(lastOf(err))
	}
	has := map[string]bool{}
	for _, s := range servers {
		if s.Live && s.Load != nil && s.Load.SealKey != "" {
			has[s.Load.SealKey] = true
		}
	}
	const do = "give all xDS servers the file of one key, and the API servers the public key of the same pair (docs/secrets.md, with which key)"
	for _, k := range []struct {
		flag, path string
		id         func(string) (string, error)
	}{{"--seal-public-key", x.SealPublic, publicID}, {"--seal-private-key", x.SealPrivate, privateID}} {
		if k.path == "" {
			continue
		}
		id, err := k.id(k.path)
		if err != nil {
			return failed(k.flag+": "+fleet.Sentence(err), do)
		}
		if len(has) > 0 && !has[id] {
			return failed(fmt.Sprintf("%s holds the key %s, and the xDS servers have %s", k.flag, id, names(has)), do)
		}
	}
	switch {
	case len(has) > 1:
		return failed("the xDS servers have different keys: "+names(has), do)
	case len(has) == 0:
		return notChecked("no xDS server that runs tells its key")
	case x.SealPublic == "" && x.SealPrivate == "":
		return ok("the xDS servers have the key " + names(has) + "; give --seal-public-key to see whether the API servers' fits")
	}
	return ok("the key " + names(has) + " is the xDS servers' own")
}

func checkVersionKey(ctx context.Context, x *examination) Result {
	const do = "give all API servers the file of one key, that of this installation, from where its copies are (docs/backup.md)"
	if x.VersionKey == "" {
		return notChecked("give --version-key to see whether it is the key of this installation")
	}
	key, err := seal.LoadVersion(x.VersionKey)
	if err != nil {
		return failed("--version-key: "+fleet.Sentence(err), do)
	}
	heads, err := x.database.probe.HeadsOfKey(ctx, audit.NewSigner(key))
	switch {
	case store.Code(err) == insufficientPrivilege:
		return notChecked("the role may not read what is signed: give the URL of fairlead_app, as the API servers have it")
	case err != nil:
		return notChecked(lastOf(err))
	case len(heads.Foreign) > 0:
		return failed(run.ForeignVersionKey(heads)+" (tenants "+strings.Join(heads.Foreign, ", ")+")", do)
	case heads.Signed == 0:
		return notChecked("no API server has signed an audit yet")
	}
	return ok("audits are signed with it")
}

// insufficientPrivilege is Postgres's code.
const insufficientPrivilege = "42501"

func publicID(path string) (string, error) {
	key, err := seal.LoadPublic(path)
	if err != nil {
		return "", err
	}
	s, err := seal.NewSealer(key)
	if err != nil {
		return "", err
	}
	return s.KeyID(), nil
}

func privateID(path string) (string, error) {
	key, err := seal.LoadPrivate(path)
	if err != nil {
		return "", err
	}
	o, err := seal.NewOpener(key)
	if err != nil {
		return "", err
	}
	return o.KeyID(), nil
}
