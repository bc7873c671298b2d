package run

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
	"fairlead/internal/xds/xdstest"
)

// xdsDoor is a running xDS server, its database and tokens that are not good.
type xdsDoor struct {
	address string
	methods []string // all that is registered
	tokens  map[string]string
	good    string
	fleet   fleet.Key // of all tokens but the unknown one
}

// openDoor starts the server as XDS.Serve does, with reflection on.
func openDoor(t *testing.T) xdsDoor {
	t.Helper()
	return openDoorOn(t, storetest.New(t))
}

func openDoorOn(t *testing.T, db *storetest.DB) xdsDoor {
	t.Helper()
	return openDoorWith(t, db, nil)
}

// openDoorWith starts it with TLS, or without where conf is nil.
func openDoorWith(t *testing.T, db *storetest.DB, conf *tls.Config) xdsDoor {
	t.Helper()
	keys, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() + "/keys"
	if err := seal.WriteKeys(dir, dir, keys); err != nil {
		t.Fatal(err)
	}
	x, err := NewXDS(t.Context(), XDSConfig{
		DatabaseURL: db.Node, SealPrivateKey: dir + "/" + seal.PrivateFile, Wakeup: "notify", Poll: 100 * time.Millisecond, Reflection: true, Name: "here",
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	lis, err := Listen("127.0.0.1:0", "--listen")
	if err != nil {
		t.Fatal(err)
	}
	srv, err := x.server(Port{Listener: lis, TLS: conf})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- lifecycle.Run(ctx, append(x.Components(), lifecycle.Component{Name: "port", Run: func(ctx context.Context) error { return srv.serve(ctx, lis) }})...)
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	d := xdsDoor{address: lis.Addr().String()}
	for service, info := range srv.grpc.GetServiceInfo() {
		for _, m := range info.Methods {
			d.methods = append(d.methods, "/"+service+"/"+m.Name)
		}
	}
	slices.Sort(d.methods)
	d.credentials(t, db)
	return d
}

func (d *xdsDoor) credentials(t *testing.T, db *storetest.DB) {
	t.Helper()
	tenant, s, actor := db.Tenant(t), db.Store(t), store.Actor{Name: "test"}
	f := db.Fleet(t, tenant)
	d.fleet = fleet.Key{Tenant: tenant, Fleet: f}
	credential := func(expires time.Time) (fleet.CredentialID, string) {
		t.Helper()
		id, token, hash := auth.NewNodeToken(expires)
		if _, err := s.CreateNodeCredential(t.Context(), tenant, f, actor, store.NodeCredential{ID: id, Hash: hash, Nodes: "*", ExpiresAt: expires}); err != nil {
			t.Fatal(err)
		}
		return id, token
	}
	_, expired := credential(time.Now().Add(-time.Minute))
	id, revoked := credential(time.Time{})
	if err := s.RevokeNodeCredential(t.Context(), tenant, f, actor, id); err != nil {
		t.Fatal(err)
	}
	_, unknown, _ := auth.NewNodeToken(time.Time{})
	_, d.good = credential(time.Time{})
	d.tokens = map[string]string{"none": "", "garbage": "garbage", "unknown": unknown, "expired": expired, "revoked": revoked}
}

func (d xdsDoor) dial(t *testing.T) *xdstest.Raw {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	return xdstest.NewRaw(t, conn)
}

// body is what a caller sends.
type body struct {
	bytes []byte
	end   bool
}

func bodies() map[string]body {
	return map[string]body{
		"well-formed":    {xdstest.Message(0, nil), true},
		"ff ff":          {xdstest.Message(2, []byte{0xff, 0xff}), true},
		"16 MiB":         {xdstest.Message(16<<20, make([]byte, 16<<20)), true},
		"half a message": {xdstest.Message(100, make([]byte, 50)), false},
	}
}

const windowOfAStream = 64 << 10

// TestT03_T39_NothingBeforeTheToken: no method of the running server but the health check
// does anything for a caller without a good token, whatever the caller sends, and none
// takes more of it than a stream's first window.
func TestT03_T39_NothingBeforeTheToken(t *testing.T) {
	d := openDoor(t)
	if len(d.methods) < 24 || !slices.Contains(d.methods, "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo") {
		t.Fatalf("the server offers %q, want reflection and all services", d.methods)
	}
	for _, method := range append(d.methods, "/no.such.Service/Method") {
		r := d.dial(t)
		want := codes.Unauthenticated
		if strings.HasPrefix(method, "/grpc.health.v1.Health/") {
			want = codes.OK
		}
		for who, token := range d.tokens {
			for what, b := range bodies() {
				id := r.Call(method, token)
				sent := r.Send(id, b.bytes, b.end)
				if code, err := r.End(id); code != want {
					t.Errorf("%s with token %s and %s ended with %v (%v), want %s", method, who, what, code, err, want)
				}
				if sent > windowOfAStream {
					t.Errorf("%s with token %s: %d bytes were taken", method, who, sent)
				}
			}
		}
	}
	r := d.dial(t)
	id := r.Call("/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus", d.good)
	r.Send(id, xdstest.Message(0, nil), true)
	if code, err := r.End(id); code != codes.OK {
		t.Errorf("with a good token: %v (%v), want OK", code, err)
	}
}

// Whoever was refused whose fleet is known stands among its events when the server has stopped, at the latest.
func TestTheDoorTellsWhomItRefused(t *testing.T) {
	db := storetest.New(t)
	s := db.Store(t)
	var d xdsDoor
	t.Run("serve", func(t *testing.T) {
		d = openDoorOn(t, db)
		r := d.dial(t)
		for _, who := range []string{"revoked", "unknown", "expired", "revoked", "none"} {
			if code, err := r.End(r.Call("/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources", d.tokens[who])); code != codes.Unauthenticated {
				t.Errorf("%s: %v (%v)", who, code, err)
			}
		}
	})
	events, _, err := s.Events(t.Context(), d.fleet.Tenant, d.fleet.Fleet, store.EventFilter{}, store.EventCursor{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	told := map[fleet.DeniedReason]int64{}
	for _, e := range events {
		told[e.Denied.Reason] = e.Denied.Attempts
		if e.Kind != store.EventDenied || e.Denied.Address != "127.0.0.1" || e.Denied.Credential == (fleet.CredentialID{}) {
			t.Errorf("%+v", e)
		}
	}
	if len(events) != 2 || told[fleet.DeniedRevoked] != 2 || told[fleet.DeniedExpired] != 1 {
		t.Errorf("%d events: %v", len(events), told)
	}
}

// TestT39_NothingIsLeftOfRefusedCalls: after 200 of each kind the heap is what it was,
// within 5 % and 4 MiB, while their connections live.
func TestT39_NothingIsLeftOfRefusedCalls(t *testing.T) {
	d, all := openDoor(t), bodies()
	var rs []*xdstest.Raw
	for range 10 {
		rs = append(rs, d.dial(t))
	}
	n := 0
	round := func(times int) {
		for range times {
			for _, token := range d.tokens {
				for _, b := range all {
					r := rs[n%len(rs)]
					id := r.Call(d.methods[n%len(d.methods)], token, "grpc-timeout", "99999H")
					r.Send(id, b.bytes, b.end)
					if code, err := r.End(id); err != nil {
						t.Fatalf("%v: %v", code, err)
					}
					n++
				}
			}
		}
	}
	round(20) // buffers and pools are what they get to be
	before := heap()
	round(200)
	after := heap()
	t.Logf("%d KiB before, %d KiB after %d calls", before>>10, after>>10, n)
	if after > before+before/20 || after > before+4<<20 {
		t.Errorf("the heap has %d KiB, and had %d KiB before %d refused calls", after>>10, before>>10, n)
	}
	runtime.KeepAlive(rs)
	runtime.KeepAlive(all)
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools kept goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
