package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	client "fairlead/clients/go"
	"fairlead/internal/store/storetest"
	"fairlead/test/world"
)

// cellsFile writes the file of cells with these databases.
func cellsFile(w *world.World, name string, urls ...string) string {
	text := "cells:\n"
	for i, url := range urls {
		text += fmt.Sprintf("- {name: c%d, database_url: %q}\n", i+1, url)
	}
	world.Must(w.T, os.WriteFile(w.Path(name), []byte(text), 0o600))
	return w.Path(name)
}

// TestAnAPIServerOfTwoCells: the programs themselves, from empty databases. The command line works with the tenant that its token has, in either cell, and both are called the same.
func TestAnAPIServerOfTwoCells(t *testing.T) {
	t.Parallel()
	w := world.Empty(t)
	w.MakeKeys()
	cells := []*storetest.DB{storetest.Empty(t), storetest.Empty(t)}
	w.Run("api", "migrate", "--cells-file", cellsFile(w, "owners.yaml", cells[0].Owner, cells[1].Owner))
	server := w.StartAPI("--listen", world.AnyPort, "--cells-file", cellsFile(w, "cells.yaml", cells[0].App, cells[1].App))
	w.API = "http://" + server.Logged("the port is open", "address")
	health := "http://" + server.Logged("the port is open", "health_address")
	world.AwaitOK(t, w.API+"/readyz")
	var tokens []string
	for i, cell := range cells {
		file := w.Path(fmt.Sprint("operator", i))
		w.Run("api", "bootstrap-token", "--database-url", cell.App, "--out", file)
		op := w.As(strings.TrimSpace(string(world.Read(t, file))))
		tenant, err := op.CreateTenantWithResponse(t.Context(), client.TenantCreate{Slug: "acme"})
		w.Made(tenant, err)
		token, err := op.CreateTokenWithResponse(t.Context(), "acme", client.TokenCreate{Name: "test", Role: client.Admin})
		w.Made(token, err)
		tokens = append(tokens, token.JSON201.Token)
	}
	fairlead := func(token string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), world.Bin("fairlead"), args...) //nolint:gosec // our own program
		c.Env = append(os.Environ(), "FAIRLEAD_URL="+w.API, "FAIRLEAD_TENANT=acme", "FAIRLEAD_TOKEN="+token, "XDG_CONFIG_HOME="+w.Path("none"))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	for i, token := range tokens {
		fairlead(token, "fleet", "create", fmt.Sprint("fleet-", i+1))
	}
	for i, token := range tokens {
		if said := fairlead(token, "fleet", "list"); !strings.Contains(said, fmt.Sprint("fleet-", i+1)) || strings.Contains(said, fmt.Sprint("fleet-", 2-i)) {
			t.Errorf("cell %d: %s", i+1, said)
		}
	}
	for path, want := range map[string]string{"/readyz": "ready\n", "/metrics": `fairlead_api_requests_total{cell="c2",operation="createFleet",status="201"} 1`} {
		_, text := world.Get(health + path)
		if !strings.Contains(text, want) {
			t.Errorf("%s has no %s", path, want)
		}
	}
}
