package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	plaintext "google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// cellOf is a cell of a test: a database with a fleet, and a token for it.
type cellOf struct {
	*testing.T
	name  string
	db    *storetest.DB
	key   fleet.Key
	token string
}

func newCell(t *testing.T, name string, db *storetest.DB) *cellOf {
	t.Helper()
	c := &cellOf{T: t, name: name, db: db}
	c.key, c.token = c.fleetWithToken()
	return c
}

// with does something with a store, of which nothing is left open.
func (c *cellOf) with(do func(s *store.Store) error) {
	c.Helper()
	s, err := store.Open(c.Context(), store.Config{URL: c.db.App, MaxConns: 1, Patience: storetest.Patience})
	if err != nil {
		c.Fatal(err)
	}
	defer s.Close()
	if err := do(s); err != nil {
		c.Fatal(err)
	}
}

func (c *cellOf) fleetWithToken() (key fleet.Key, token string) {
	c.Helper()
	key.Tenant, key.Fleet = c.db.TenantWithFleet(c)
	id, token, hash := auth.NewNodeToken(time.Time{})
	c.with(func(s *store.Store) error {
		_, err := s.CreateNodeCredential(c.Context(), key.Tenant, key.Fleet, store.Actor{Name: "test"}, store.NodeCredential{ID: id, Hash: hash, Nodes: "*"})
		return err
	})
	return key, token
}

// put writes a cluster.
func (c *cellOf) put(name, version string) {
	c.Helper()
	body, err := proto.Marshal(&clusterv3.Cluster{Name: name, AltStatName: version})
	if err != nil {
		c.Fatal(err)
	}
	x := store.ResourceChange{Type: fleet.Cluster, Name: name, Body: body, BodyHash: sha256.Sum256(body)}
	x.Version, x.DocHash = hex.EncodeToString(x.BodyHash[:8]), x.BodyHash
	c.with(func(s *store.Store) error {
		_, err := s.Apply(c.Context(), c.key.Tenant, c.key.Fleet, store.Write{Changes: []store.ResourceChange{x}})
		return err
	})
}

// place says where a tenant is, as a move does.
func (c *cellOf) place(t fleet.TenantID, place string) {
	c.Helper()
	c.db.Exec(c, `UPDATE tenants SET place = $2 WHERE id = $1`, t.String(), place)
	c.db.Exec(c, `UPDATE fleet_heads SET epoch = epoch + 1 WHERE tenant_id = $1`, t.String())
}

// copied is the cell with all its rows, under another name.
func (c *cellOf) copied(name string) *cellOf {
	c.Helper()
	other := storetest.New(c)
	to := other.Name + "_copy"
	conn := other.Connect(c, other.Owner)
	defer conn.Close(c.Context()) //nolint:errcheck // nothing is pending
	if _, err := conn.Exec(c.Context(), "CREATE DATABASE "+pgx.Identifier{to}.Sanitize()+" TEMPLATE "+pgx.Identifier{c.db.Name}.Sanitize()+" STRATEGY file_copy"); err != nil {
		c.Fatal(err)
	}
	at := func(from string) string {
		u, err := url.Parse(from)
		if err != nil {
			c.Fatal(err)
		}
		u.Path = "/" + to
		return u.String()
	}
	next := *c
	next.name, next.db = name, &storetest.DB{App: at(other.App), Node: at(other.Node), Owner: at(other.Owner), Name: to}
	return &next
}

// cellsServer is a running server of several cells.
type cellsServer struct {
	*testing.T
	x    *XDS
	conn *grpc.ClientConn
	rest *xds.Server
	told *metrics.Registry
}

func serveCells(t *testing.T, edit func(*XDSConfig), cells ...*cellOf) *cellsServer {
	t.Helper()
	keys, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() + "/keys"
	if err := seal.WriteKeys(dir, dir, keys); err != nil {
		t.Fatal(err)
	}
	text := "cells:\n"
	for _, c := range cells {
		text += fmt.Sprintf("- name: %s\n  database_url: %q\n", c.name, c.db.Node)
	}
	file := filepath.Join(dir, "cells.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	s := &cellsServer{T: t, told: metrics.New(metrics.XDS, metrics.Config{Cells: true, Logger: log})}
	cfg := XDSConfig{CellsFile: CellsFile{file}, SealPrivateKey: dir + "/" + seal.PrivateFile, Wakeup: "notify", Poll: 100 * time.Millisecond, Name: "here", Metrics: s.told}
	if edit != nil {
		edit(&cfg)
	}
	if s.x, err = NewXDS(t.Context(), cfg, log); err != nil {
		t.Fatal(err)
	}
	lis, err := Listen("127.0.0.1:0", "--listen")
	if err != nil {
		t.Fatal(err)
	}
	srv, err := s.x.server(Port{Listener: lis})
	if err != nil {
		t.Fatal(err)
	}
	s.rest = srv.Server
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- lifecycle.Run(ctx, append(s.x.Components(), lifecycle.Component{Name: "port", Run: func(ctx context.Context) error { return srv.serve(ctx, lis) }})...)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		s.x.Close()
	})
	if s.conn, err = grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(plaintext.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.conn.Close() })
	return s
}

// until looks again and again until it is so.
func (s *cellsServer) until(what string, so func() bool) {
	s.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(time.Minute); !so(); {
		select {
		case <-tick.C:
		case <-end:
			s.Fatalf("it does not come to this: %s", what)
		}
	}
}

// ready waits until the cells are read, and those that are away are known.
func (s *cellsServer) ready(away string) {
	s.Helper()
	s.until("cells away: "+away, func() bool {
		err := s.x.Ready(s.Context())
		var partly *PartlyReady
		return err == nil && away == "" || errors.As(err, &partly) && (partly.What == "cells that do not answer: "+away || strings.HasPrefix(partly.What, "cells that do not answer: "+away+" ("))
	})
}

func (s *cellsServer) client(v xdstest.Protocol, node, token string) *xdstest.Client {
	s.Helper()
	c := xdstest.Open(s, s.conn, v, xdstest.Envoy(node), xdstest.Token(token))
	c.Subscribe(fleet.Cluster)
	return c
}

// refused opens a stream that must end so.
func (s *cellsServer) refused(token string, want codes.Code, says string) {
	s.Helper()
	err := s.client(xdstest.DeltaADS, "refused", token).End()
	if status.Code(err) != want || !strings.Contains(status.Convert(err).Message(), says) {
		s.Errorf("it ends with %v, want %s: %s", err, want, says)
	}
}

// poller polls for clusters over REST.
func (s *cellsServer) poller(node, token string) *xdstest.Poller {
	p := xdstest.PollerOf(s, s.rest, node, fleet.Cluster)
	p.Token = token
	return p
}

// TestTheTokenSaysTheCell: each cell's tenants are served by the same port, whatever they speak, and a token that no cell knows is refused.
func TestTheTokenSaysTheCell(t *testing.T) {
	a, b := newCell(t, "a", storetest.New(t)), newCell(t, "b", storetest.New(t))
	s := serveCells(t, nil, a, b)
	s.ready("")
	_, unknown, _ := auth.NewNodeToken(time.Time{})
	for _, c := range []*cellOf{a, b} {
		c.put("of-"+c.name, "1")
		for _, v := range []xdstest.Protocol{xdstest.DeltaADS, xdstest.SotWADS, xdstest.Delta, xdstest.SotW} {
			stream := s.client(v, "n-"+v.String(), c.token)
			stream.Ack(stream.Want("clusters of-" + c.name + "@1"))
		}
		s.poller("n-REST", c.token).Want("200 clusters of-" + c.name + "@1")
		c.with(func(st *store.Store) error {
			xs, _, err := st.XDSServers(t.Context(), store.ServerFilter{})
			if err == nil && (len(xs) != 1 || xs[0].Name != "here") {
				t.Errorf("cell %s has the servers %+v", c.name, xs)
			}
			return err
		})
	}
	s.refused(unknown, codes.Unauthenticated, "is not known here")
	if got := s.poller("n", unknown).Poll(); got.Code != 401 {
		t.Errorf("a poll with an unknown token: %s", got)
	}
	wrong := a.token[:len(a.token)-1] + "x"
	s.refused(wrong, codes.Unauthenticated, "")
}

// TestAServerIsKnownInAllItsCells: its ids there are those of one process, which is what a move asks. Those of two servers are not.
func TestAServerIsKnownInAllItsCells(t *testing.T) {
	a, b := newCell(t, "a", storetest.New(t)), newCell(t, "b", storetest.New(t))
	first := serveCells(t, nil, a, b)
	first.ready("")
	second := serveCells(t, func(c *XDSConfig) { c.SealPrivateKey = first.x.cfg.SealPrivateKey }, a)
	second.ready("")
	ids := map[string][]fleet.ServerID{}
	for _, c := range []*cellOf{a, b} {
		first.until("the servers have leases", func() bool {
			c.with(func(st *store.Store) error {
				xs, _, err := st.XDSServers(t.Context(), store.ServerFilter{})
				ids[c.name] = nil
				for _, x := range xs {
					ids[c.name] = append(ids[c.name], x.ID)
				}
				return err
			})
			return len(ids[c.name]) == map[string]int{"a": 2, "b": 1}[c.name]
		})
	}
	same := 0
	for _, id := range ids["a"] {
		if id.SameServer(ids["b"][0]) {
			same++
		}
		if id == ids["b"][0] {
			t.Error("what it says in one cell could be taken for what it said in the other")
		}
	}
	if same != 1 || ids["a"][0].SameServer(ids["a"][1]) {
		t.Errorf("of %v %d are of the server of %v", ids["a"], same, ids["b"])
	}
}

// TestT08_CellsShareTheStreamsOfAProcess: its limits are not multiplied.
func TestT08_CellsShareTheStreamsOfAProcess(t *testing.T) {
	a, b := newCell(t, "a", storetest.New(t)), newCell(t, "b", storetest.New(t))
	a.put("c", "1")
	s := serveCells(t, func(c *XDSConfig) { c.Streams = 1 }, a, b)
	s.ready("")
	s.client(xdstest.DeltaADS, "n", a.token).Want("clusters c@1")
	s.refused(b.token, codes.ResourceExhausted, "this server has 1 streams")
}

// TestACellThatIsAwayCostsItsTenantsAlone: while the server runs, and when it starts.
func TestACellThatIsAwayCostsItsTenantsAlone(t *testing.T) {
	db, postgres := storetest.Alone(t)
	a, b := newCell(t, "a", storetest.New(t)), newCell(t, "b", db)
	_, second := b.fleetWithToken()
	_, unknown, _ := auth.NewNodeToken(time.Time{})
	a.put("c", "1")
	b.put("d", "1")
	s := serveCells(t, nil, a, b)
	s.ready("")
	ofA, ofB := s.client(xdstest.DeltaADS, "n", a.token), s.client(xdstest.DeltaADS, "n", b.token)
	ofA.Ack(ofA.Want("clusters c@1"))
	ofB.Ack(ofB.Want("clusters d@1"))
	s.refused(unknown, codes.Unauthenticated, "is not known here")

	if err := postgres.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	_, another, _ := auth.NewNodeToken(time.Time{})
	s.refused(another, codes.Unavailable, "cannot be checked now")
	if got := s.poller("n", another).Poll(); got.Code != 503 {
		t.Errorf("a poll with an unknown token: %s", got)
	}
	s.refused(second, codes.Unavailable, "cannot be checked now")
	a.put("c", "2")
	storetest.Within(t, 2*time.Second, "a change of the other cell", func() { ofA.Ack(ofA.Want("clusters c@2")) })
	s.client(xdstest.SotWADS, "m", a.token).Want("clusters c@2")
	s.client(xdstest.SotWADS, "m", b.token).Want("clusters d@1") // what is held is served on
	s.ready("b")

	next := serveCells(t, func(c *XDSConfig) { c.SealPrivateKey = s.x.cfg.SealPrivateKey }, a, b)
	next.ready("b")
	next.client(xdstest.DeltaADS, "n", a.token).Want("clusters c@2")
	next.refused(b.token, codes.Unavailable, "cannot be checked now")
}

// TestAServerWithoutACellIsNotReady: one cell at least has to be read.
func TestAServerWithoutACellIsNotReady(t *testing.T) {
	db, postgres := storetest.Alone(t)
	a := newCell(t, "a", db)
	if err := postgres.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	s := serveCells(t, nil, a)
	if err := s.x.Ready(t.Context()); !errors.Is(err, fleet.ErrUnavailable) {
		t.Errorf("it is ready: %v", err)
	}
	s.refused(a.token, codes.Unavailable, "cannot be checked now")
}

// TestATenantThatMovesIsSentNothingAgain: its streams end with UNAVAILABLE when it is gone. Between the cells nobody is told that the token is wrong, and in the other
// cell its proxies have what they had.
func TestATenantThatMovesIsSentNothingAgain(t *testing.T) {
	a := newCell(t, "a", storetest.New(t))
	a.put("c", "1")
	stays, staysToken := a.fleetWithToken()
	b := a.copied("b")
	b.place(stays.Tenant, "gone")
	b.place(b.key.Tenant, "arriving")
	s := serveCells(t, nil, a, b)
	s.ready("")
	var streams []*xdstest.Client
	for _, v := range []xdstest.Protocol{xdstest.DeltaADS, xdstest.SotWADS} {
		c := s.client(v, "n-"+v.String(), a.token)
		c.Ack(c.Want("clusters c@1"))
		streams = append(streams, c)
	}
	other := s.client(xdstest.DeltaADS, "n", staysToken)
	poll := s.poller("n-REST", a.token)
	poll.Want("200 clusters c@1")
	poll.Want("304")

	a.place(a.key.Tenant, "gone")
	for _, c := range streams {
		if err := c.End(); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "the tenant has moved; connect again") {
			t.Errorf("a stream of the tenant ends with %v", err)
		}
	}
	s.refused(a.token, codes.Unavailable, "")
	if got := poll.Poll(); got.Code != 503 {
		t.Errorf("a poll between the cells: %s", got)
	}

	b.place(b.key.Tenant, "here")
	for i, c := range streams {
		streams[i] = s.backAgain(c, []string{"clusters", "clusters c@1"}[i]) // nothing in delta, and the set in state of the world, as on any other server
	}
	s.until("polls are answered", func() bool {
		got := poll.Poll()
		if got.Code != 503 && got.String() != "304" {
			t.Errorf("a poll of the other cell: %s", got)
		}
		return got.Code != 503
	})
	b.put("d", "1")
	for i, want := range []string{"clusters d@1", "clusters c@1 d@1"} {
		streams[i].Want(want)
	}
	if _, err := other.EndedWithin(0); err != nil {
		t.Errorf("a stream of a tenant that stays has ended: %v", err)
	}
}

// TestATenantInACellThatTheServerDoesNotKnow: by servers of one database and of several its clients are told so, and which setting is to be changed. Nobody is told that the
// token is wrong, and a token that is unknown is.
func TestATenantInACellThatTheServerDoesNotKnow(t *testing.T) {
	for name, several := range map[string]bool{"one database": false, "several": true} {
		t.Run(name, func(t *testing.T) {
			a, b := newCell(t, "a", storetest.New(t)), newCell(t, "b", storetest.New(t))
			a.put("c", "1")
			_, late := a.fleetWithToken()
			var wrong []string // secrets of ids that are known
			for range 2 {
				id, token, _ := auth.NewNodeToken(time.Time{})
				a.with(func(s *store.Store) error {
					_, err := s.CreateNodeCredential(t.Context(), a.key.Tenant, a.key.Fleet, store.Actor{Name: "test"}, store.NodeCredential{ID: id, Hash: auth.Hash("another"), Nodes: "*"})
					return err
				})
				wrong = append(wrong, token)
			}
			s := serveCells(t, func(c *XDSConfig) {
				if !several {
					c.CellsFile, c.DatabaseURL, c.Metrics = CellsFile{}, a.db.Node, nil
				}
			}, a, b)
			s.ready("")
			stream := s.client(xdstest.DeltaADS, "n", a.token)
			stream.Ack(stream.Want("clusters c@1"))
			poll := s.poller("n-REST", a.token)
			poll.Want("200 clusters c@1")
			id, err := auth.ParseNodeToken(late)
			if err != nil {
				t.Fatal(err)
			}
			a.db.Exec(t, `UPDATE tenants SET place = 'gone' WHERE id <> $1`, a.key.Tenant.String()) // of which nothing is held
			a.place(a.key.Tenant, "gone")
			if err := stream.End(); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "the tenant has moved; connect again") {
				t.Errorf("a stream of the tenant ends with %v", err)
			}
			for what, token := range map[string]string{"that was served": a.token, "of " + id.String(): late} {
				for range 2 {
					err := s.client(xdstest.DeltaADS, "n", token).End()
					for _, says := range []string{"has moved to another cell, which this server does not know", "--cells-file"} {
						if status.Code(err) != codes.Unavailable || !strings.Contains(status.Convert(err).Message(), says) {
							t.Errorf("with a token %s a stream ends with %v, want UNAVAILABLE: %s", what, err, says)
						}
					}
				}
			}
			if got := poll.Poll(); got.Code != 503 {
				t.Errorf("a poll: %s", got)
			}
			_, unknown, _ := auth.NewNodeToken(time.Time{})
			s.refused(unknown, codes.Unauthenticated, "is not known here")
			s.refused(wrong[0], codes.Unauthenticated, "is not known here")
			a.place(a.key.Tenant, "arriving")
			s.refused(wrong[1], codes.Unauthenticated, "is not known here")
			s.refused(a.token, codes.Unavailable, "its tenant is moving")
			a.place(a.key.Tenant, "here")
			s.client(xdstest.DeltaADS, "m", a.token).Want("clusters c@1")
		})
	}
}

// TestAMoveThatEndsWhileATokenIsLookedFor: the database did not know the token when it was asked, and serves its tenant when it is asked where that is. The token is good,
// and is not remembered as a wrong one.
func TestAMoveThatEndsWhileATokenIsLookedFor(t *testing.T) {
	for name, several := range map[string]bool{"one database": false, "several": true} {
		t.Run(name, func(t *testing.T) {
			a, b := newCell(t, "a", storetest.New(t)), newCell(t, "b", storetest.New(t))
			a.key, a.token = a.fleetWithToken() // of which nothing is held
			a.put("c", "1")
			s := serveCells(t, func(c *XDSConfig) {
				if !several {
					c.CellsFile, c.DatabaseURL, c.Metrics = CellsFile{}, a.db.Node, nil
				}
			}, a, b)
			s.ready("")
			a.place(a.key.Tenant, "arriving")
			conn := a.db.Connect(t, a.db.Owner)
			defer conn.Close(t.Context()) //nolint:errcheck // nothing is pending
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(t.Context(), `LOCK TABLE node_credentials IN ACCESS EXCLUSIVE MODE`); err != nil { // the look-up has begun, and sees the tenant arriving
				t.Fatal(err)
			}
			stream := s.client(xdstest.DeltaADS, "n", a.token)
			s.until("the token is looked for", func() (waits bool) {
				if err := tx.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity s USING (pid) WHERE NOT l.granted AND s.query LIKE '%find_node_credential(%')`).Scan(&waits); err != nil {
					t.Fatal(err)
				}
				return waits
			})
			a.place(a.key.Tenant, "here")
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			stream.Want("clusters c@1")
			s.client(xdstest.DeltaADS, "m", a.token).Want("clusters c@1")
		})
	}
}

// TestATenantThatWasDeletedAfterItsMove: its tokens are refused, whatever the cell that it has left still has.
func TestATenantThatWasDeletedAfterItsMove(t *testing.T) {
	a := newCell(t, "a", storetest.New(t))
	b := a.copied("b")
	a.place(a.key.Tenant, "gone")
	s := serveCells(t, nil, a, b)
	s.ready("")
	b.with(func(in *store.Store) error {
		return in.DeleteTenant(t.Context(), b.key.Tenant, store.Actor{Name: "test"})
	})
	s.refused(a.token, codes.Unauthenticated, "not known here")
	if got := s.poller("n-REST", a.token).Poll(); got.Code != 401 {
		t.Errorf("a poll: %s", got)
	}
}

// backAgain returns the client on a new stream, which begins with that.
func (s *cellsServer) backAgain(c *xdstest.Client, first string) *xdstest.Client {
	s.Helper()
	s.until("the tenant is served by the other cell", func() bool {
		c = c.Again()
		c.Return(fleet.Cluster)
		r, err := c.Ended()
		switch {
		case r != nil && r.String() != first:
			s.Fatalf("it is sent %s", r)
		case r != nil:
			c.Ack(r)
		case status.Code(err) != codes.Unavailable:
			s.Fatalf("it ends with %v", err)
		}
		return r != nil
	})
	return c
}
