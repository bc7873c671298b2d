package run

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairlead/internal/audit"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// keyFiles makes the files of fresh keys, and returns their folder and the id of the pair.
func keyFiles(t *testing.T) (dir, id string) {
	t.Helper()
	keys, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir() + "/keys"
	sealer, err := seal.NewSealer(keys.Public)
	if err = errors.Join(err, seal.WriteKeys(dir, dir, keys)); err != nil {
		t.Fatal(err)
	}
	return dir + "/", sealer.KeyID()
}

// TestAnXDSServerDoesNotStartBesideOneWithAnotherKey: it could open nothing of what that opens.
func TestAnXDSServerDoesNotStartBesideOneWithAnotherKey(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	dir, id := keyFiles(t)
	start := func() error {
		x, err := NewXDS(t.Context(), XDSConfig{DatabaseURL: db.Node, SealPrivateKey: dir + seal.PrivateFile, Wakeup: "poll", Poll: time.Second, Name: "here"}, slog.New(slog.DiscardHandler))
		if err == nil {
			x.Close()
		}
		return err
	}
	if err := start(); err != nil {
		t.Errorf("alone: %v", err)
	}
	nodes := db.NodeStore(t)
	other := fleet.NewServerID()
	if _, err := nodes.LeaseWith(t.Context(), other, "another", time.Hour, store.ServerLoad{SealKey: "0123456789abcdef"}); err != nil {
		t.Fatal(err)
	}
	if err := start(); !errors.Is(err, fleet.ErrConflict) || !strings.Contains(err.Error(), id) || !strings.Contains(err.Error(), "0123456789abcdef (another)") {
		t.Errorf("beside another key: %v", err)
	}
	if err := nodes.Release(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := start(); err != nil {
		t.Errorf("when that is gone: %v", err)
	}
}

// TestAnAPIServerWithoutXDSServersOfItsKeyIsNotReady, and is when one has it; nor is one whose database has no room.
func TestAnAPIServerWithoutXDSServersOfItsKeyIsNotReady(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	dir, id := keyFiles(t)
	nodes := db.NodeStore(t)
	lease := func(key string) {
		t.Helper()
		if _, err := nodes.LeaseWith(t.Context(), fleet.NewServerID(), "xds-1.internal", time.Hour, store.ServerLoad{SealKey: key}); err != nil {
			t.Fatal(err)
		}
	}
	a, err := NewAPI(t.Context(), APIConfig{DatabaseURL: db.App, SealPublicKey: dir + seal.PublicFile, VersionKey: dir + seal.VersionFile}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	notReady := func(when, says string) {
		t.Helper()
		var why httpapi.NotReady
		if err := a.cells[0].ready(t.Context()); !errors.As(err, &why) || !strings.Contains(string(why), says) {
			t.Errorf("%s: %v, want %q", when, err, says)
		}
		told := httptest.NewRecorder() // without a token
		h, _ := a.handler()
		h.ServeHTTP(told, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
		if told.Code != http.StatusServiceUnavailable || !strings.Contains(told.Body.String(), says) || strings.Contains(told.Body.String(), "xds-1.internal") {
			t.Errorf("%s: /readyz says %d %s", when, told.Code, told.Body)
		}
		if err := a.Ready(t.Context()); err == nil || strings.Contains(err.Error(), "xds-1.internal") {
			t.Errorf("%s: at the health address it says %v", when, err)
		}
	}
	if err := a.cells[0].ready(t.Context()); err != nil {
		t.Errorf("without xDS servers: %v", err)
	}
	lease("0123456789abcdef")
	notReady("beside another key", "sealed here with the key "+id+", and no xDS server can open them: they have 0123456789abcdef; give")
	lease(id)
	if err := a.cells[0].ready(t.Context()); err != nil {
		t.Errorf("when one has it: %v", err)
	}
	db.Exec(t, `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$`)
	db.Exec(t, `CREATE TRIGGER full_disk BEFORE INSERT ON tenants FOR EACH ROW EXECUTE FUNCTION full_disk()`)
	if _, err := a.Store().CreateTenant(t.Context(), store.Actor{Name: "t"}, "acme", "acme"); !errors.Is(err, store.ErrFull) {
		t.Fatalf("%v", err)
	}
	notReady("without room", "no room on its disk")
}

// TestAForeignVersionKeyIsToldAtTheStart: what API servers have signed is not of it. A head of another key may be a forged one too, so the server starts.
func TestAForeignVersionKeyIsToldAtTheStart(t *testing.T) {
	t.Parallel()
	db := storetest.New(t)
	own, _ := keyFiles(t)
	foreign, _ := keyFiles(t)
	start := func(dir string) (*API, string) {
		t.Helper()
		var out bytes.Buffer
		a, err := NewAPI(t.Context(), APIConfig{DatabaseURL: db.App, SealPublicKey: own + seal.PublicFile, VersionKey: dir + seal.VersionFile}, slog.New(slog.NewTextHandler(&out, nil)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.Close)
		return a, out.String()
	}
	const says = "--version-key"
	a, out := start(foreign)
	if strings.Contains(out, says) {
		t.Errorf("where nothing is signed yet: %s", out)
	}
	tenant, err := a.Store().CreateTenant(t.Context(), store.Actor{Name: "t"}, "acme", "acme")
	if err != nil {
		t.Fatal(err)
	}
	key, err := seal.LoadVersion(own + seal.VersionFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, f, err := a.Store().SignAudit(t.Context(), tenant.ID, audit.NewSigner(key), func() error { return nil }); f != nil || err != nil {
		t.Fatal(f, err)
	}
	if _, out := start(own); strings.Contains(out, says) {
		t.Errorf("with the key of the others: %s", out)
	}
	if _, out := start(foreign); !strings.Contains(out, "level=ERROR") || !strings.Contains(out, says) || !strings.Contains(out, "acme") {
		t.Errorf("with another key: %s", out)
	}
}

// TestKeysOfTheWrongKindAreRefusedAtTheStart.
func TestKeysOfTheWrongKindAreRefusedAtTheStart(t *testing.T) {
	t.Parallel()
	dir, _ := keyFiles(t)
	quiet := slog.New(slog.DiscardHandler)
	url := "postgres://nobody@127.0.0.1:1/none"
	names := func(err error, setting, says string) {
		t.Helper()
		if err == nil || !strings.HasPrefix(err.Error(), setting+": ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want one that begins with %s and says %q", err, setting, says)
		}
	}
	absent := dir + "none"
	_, err := NewAPI(t.Context(), APIConfig{DatabaseURL: url, SealPublicKey: absent, VersionKey: dir + seal.VersionFile}, quiet)
	names(err, "--seal-public-key (FAIRLEAD_SEAL_PUBLIC_KEY)", "there is no file "+absent+": \"api keys\" makes it")
	_, err = NewAPI(t.Context(), APIConfig{DatabaseURL: url, SealPublicKey: dir + seal.PublicFile, VersionKey: absent}, quiet)
	names(err, "--version-key (FAIRLEAD_VERSION_KEY)", "there is no file "+absent+": \"api keys\" makes it")
	_, err = NewAPI(t.Context(), APIConfig{DatabaseURL: url, SealPublicKey: dir + seal.PrivateFile, VersionKey: dir + seal.VersionFile}, quiet)
	names(err, "--seal-public-key (FAIRLEAD_SEAL_PUBLIC_KEY)", "give the file of the public sealing key, seal.pub")
	_, err = NewXDS(t.Context(), XDSConfig{DatabaseURL: url, SealPrivateKey: absent, Name: "x"}, quiet)
	names(err, "--seal-private-key (FAIRLEAD_SEAL_PRIVATE_KEY)", "there is no file "+absent+": \"api keys\" makes it")
	for name, c := range map[string]APIConfig{
		"private sealing key": {DatabaseURL: url, SealPublicKey: dir + seal.PrivateFile, VersionKey: dir + seal.VersionFile},
		"version key":         {DatabaseURL: url, SealPublicKey: dir + seal.VersionFile, VersionKey: dir + seal.VersionFile},
	} {
		if _, err := NewAPI(t.Context(), c, quiet); !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "holds a "+name) {
			t.Errorf("an API server with a %s as its public one: %v", name, err)
		}
	}
	if _, err := NewXDS(t.Context(), XDSConfig{DatabaseURL: url, SealPrivateKey: dir + seal.VersionFile, Name: "x"}, quiet); !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "holds a version key") {
		t.Errorf("an xDS server with a version key: %v", err)
	}
}
