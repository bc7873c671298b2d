package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/metrics/metricstest"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// cellsWorld is an API server of several cells that runs.
type cellsWorld struct {
	*testing.T
	api      *API
	registry *metrics.Registry
	url      string
}

func cellsIn(t *testing.T, urls ...string) CellsFile {
	t.Helper()
	text := "cells:\n"
	for i, url := range urls {
		text += fmt.Sprintf("- {name: c%d, database_url: %q}\n", i+1, url)
	}
	path := filepath.Join(t.TempDir(), "cells.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return CellsFile{File: path}
}

func startCells(t *testing.T, urls ...string) *cellsWorld {
	t.Helper()
	dir, _ := keyFiles(t)
	w := &cellsWorld{T: t, registry: metrics.New(metrics.API, metrics.Config{Cells: true})}
	var err error
	w.api, err = NewAPI(t.Context(), APIConfig{CellsFile: cellsIn(t, urls...), SealPublicKey: dir + seal.PublicFile, VersionKey: dir + seal.VersionFile, Metrics: w.registry}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.url = "http://" + lis.Addr().String()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- lifecycle.Run(ctx, w.api.Components(lis, nil)...) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		w.api.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return w
}

// operator makes the first operator token of a database.
func operator(t *testing.T, db *storetest.DB) string {
	t.Helper()
	id, token, hash := auth.NewAPIToken(auth.KindOperator)
	if err := db.Store(t).CreateFirstOperatorToken(t.Context(), store.OperatorToken{ID: id, Hash: hash, Name: "operator", ExpiresAt: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	return token
}

func (w *cellsWorld) do(method, path, token, body string) (status int, text string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// await asks until the answer is this one.
func (w *cellsWorld) await(path, token string, status int, text string) {
	w.Helper()
	for end := time.Now().Add(2 * time.Minute); ; {
		gotStatus, got := w.do(http.MethodGet, path, token, "")
		if gotStatus == status && strings.Contains(got, text) {
			return
		}
		if time.Now().After(end) {
			w.Fatalf("%s: %d %s, want %d %s", path, gotStatus, got, status, text)
		}
	}
}

// TestAServerOfSeveralCells: it serves when one of them can be used, the others when they can, and those that are left when one stops. What is
// done beside requests goes on with them.
func TestAServerOfSeveralCells(t *testing.T) {
	t.Parallel()
	first, late := storetest.New(t), storetest.Empty(t)
	stops, postgres := storetest.Alone(t)
	w := startCells(t, first.App, late.App, stops.App)
	tokens := []string{operator(t, first), "", operator(t, stops)}
	w.await("/readyz", "", 200, "cell c2: its database was not reached yet: the database has no schema yet: run the migrations\n")
	if err := w.api.Ready(t.Context()); !isPartly(err, "cell c2: ") {
		t.Errorf("%v", err)
	}
	if _, err := store.Migrate(t.Context(), late.Owner); err != nil {
		t.Fatal(err)
	}
	tokens[1] = operator(t, late)
	w.await("/v1/tenants", tokens[1], 200, "[]")
	w.await("/readyz", "", 200, "ready\n")
	for i, token := range tokens {
		if status, text := w.do(http.MethodPost, "/v1/tenants", token, `{"slug": "acme", "name": "of cell `+fmt.Sprint(i+1)+`"}`); status != 201 {
			t.Errorf("%d %s", status, text)
		}
	}
	if err := postgres.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.await("/readyz", "", 200, "cell c3: its database does not answer\n")
	_, unknown, _ := auth.NewAPIToken(auth.KindOperator)
	for range 3 {
		for token, want := range map[string]int{tokens[0]: 200, tokens[1]: 200, tokens[2]: 503, unknown: 503} {
			if status, text := w.do(http.MethodGet, "/v1/tenants", token, ""); status != want {
				t.Errorf("%d %s, want %d", status, text, want)
			}
		}
	}
	for _, cell := range []string{"c1", "c2", "c3"} {
		if metricstest.Value(t, w.registry, `fairlead_api_requests_total{cell="`+cell+`",operation="createTenant",status="201"}`) != 1 {
			t.Errorf("%s has not counted its tenant", cell)
		}
	}
	for _, c := range w.api.cells[:2] { // of both, what the background does finds a database that answers
		if failed := (tokenEnds{c.store, c.metrics.Requests.OperatorTokensEnd, c.log}).once(t.Context()); failed {
			t.Errorf("%s: it failed", c.name)
		}
	}
}

func isPartly(err error, what string) bool {
	var p *PartlyReady
	return errors.As(err, &p) && strings.Contains(p.What, what)
}

// TestAServerWhoseCellsAreAllAway waits, as one of one database does, and says which.
func TestAServerWhoseCellsAreAllAway(t *testing.T) {
	t.Parallel()
	dir, _ := keyFiles(t)
	cfg := APIConfig{CellsFile: cellsIn(t, "postgres://nobody@127.0.0.1:1/a", "postgres://nobody@127.0.0.1:1/b"), SealPublicKey: dir + seal.PublicFile, VersionKey: dir + seal.VersionFile}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	a, err := NewAPI(ctx, cfg, slog.New(slog.DiscardHandler))
	if !errors.Is(err, fleet.ErrUnavailable) {
		t.Fatalf("%v", err)
	}
	var why httpapi.NotReady
	if err := a.Ready(t.Context()); !errors.As(err, &why) || !strings.Contains(string(why), "cell c1: ") || !strings.Contains(string(why), "cell c2: ") {
		t.Errorf("%v", err)
	}
	a.Close()
	cfg.DatabaseURL = "postgres://nobody@127.0.0.1:1/a"
	if _, err := NewAPI(t.Context(), cfg, slog.New(slog.DiscardHandler)); !errors.Is(err, fleet.ErrInvalid) {
		t.Errorf("with --database-url as well: %v", err)
	}
}

// TestTwoCellsOfOneDatabase: a server that would refuse every token does not start, and says which cells they are.
func TestTwoCellsOfOneDatabase(t *testing.T) {
	t.Parallel()
	db, other := storetest.New(t), storetest.New(t)
	dir, _ := keyFiles(t)
	away, log := "postgres://nobody@127.0.0.1:1/a", slog.New(slog.DiscardHandler)
	says := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "the cells c2 and c4 lead to one database") {
			t.Errorf("%s: %v", what, err)
		}
	}
	a, err := NewAPI(t.Context(), APIConfig{CellsFile: cellsIn(t, other.App, db.App, away, db.App+"&application_name=x"), SealPublicKey: dir + seal.PublicFile, VersionKey: dir + seal.VersionFile}, log)
	says("api", err)
	a.Close()
	keys, err := seal.Generate()
	if err != nil {
		t.Fatal(err)
	}
	private := t.TempDir() + "/keys"
	if err := seal.WriteKeys(private, private, keys); err != nil {
		t.Fatal(err)
	}
	_, err = NewXDS(t.Context(), XDSConfig{CellsFile: cellsIn(t, other.Node, db.Node, away, db.Node+"&application_name=x"), SealPrivateKey: private + "/" + seal.PrivateFile}, log)
	says("xds", err)
	c := &xdsCells{}
	for i, name := range []string{"c2", "c4"} { // of which neither could be reached at the start
		s, err := c.openStack(t.Context(), name, XDSConfig{DatabaseURL: db.Node, Name: "here", SealPrivateKey: private + "/" + seal.PrivateFile, Poll: time.Second}, stackOf{opener: opener(t, keys), server: fleet.NewServerID(), metrics: metrics.Discard()}, log)
		if i == 0 && err == nil {
			defer s.close()
			continue
		}
		says("a cell that is opened later", err)
	}
}

func opener(t *testing.T, keys seal.Keys) *seal.Opener {
	t.Helper()
	o, err := seal.NewOpener(keys.Private)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
