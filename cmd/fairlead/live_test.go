package main

import (
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/httpapi"
	"fairlead/internal/resource"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
	"fairlead/web"
)

// liveWorld is a directory, and an API over a real database with the tenant acme and its
// fleets edge and prod.
type liveWorld struct {
	*world
	url, token string
}

func live(t *testing.T) *liveWorld {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db := storetest.New(t)
	s := db.Store(t)
	keys, err := seal.Generate()
	must(err)
	sealer, err := seal.NewSealer(keys.Public)
	must(err)
	api, err := httpapi.New(httpapi.Config{
		Store: s, Sealer: sealer, Compiler: resource.NewCompiler(resource.Config{VersionKey: keys.Version}),
		Logger: slog.New(slog.DiscardHandler), Page: web.Handler(),
	})
	must(err)
	server := httptest.NewServer(api.Handler())
	t.Cleanup(server.Close)
	actor := store.Actor{Name: "test"}
	tenant, err := s.CreateTenant(t.Context(), actor, "acme", "acme")
	must(err)
	for _, name := range []string{"edge", "prod"} {
		_, err = s.CreateFleet(t.Context(), tenant.ID, actor, name, "")
		must(err)
	}
	id, token, hash := auth.NewAPIToken(auth.RoleOwner.TokenKind())
	_, err = s.CreateToken(t.Context(), tenant.ID, actor, store.APIToken{ID: id, Hash: hash, Role: auth.RoleOwner, Name: "owner"})
	must(err)
	w := &liveWorld{world: setup(t), url: server.URL, token: token}
	w.clock = time.Now()
	return w
}

func (w *liveWorld) tokenFile() string { return tokenFile(w.t, w.token) }

// on runs a command on a fleet.
func (w *liveWorld) on(fleet, stdin string, args ...string) result {
	w.t.Helper()
	return w.bare(stdin, append(args, "--server", w.url, "--token-file", w.tokenFile(), "--tenant", "acme", "--fleet", fleet)...)
}

// is fails the test unless the command ended well, and returns what it printed.
func (r result) is(t *testing.T, code int) string {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit status %d, want %d:\n%s%s", r.code, code, r.out, r.err)
	}
	return r.out
}
