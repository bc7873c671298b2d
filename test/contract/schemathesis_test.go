package contract

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/internal/fetch"
	"fairlead/test/world"
)

// TestSchemathesis lets schemathesis make requests out of the document that the server gives, good ones and
// bad ones, and judge every answer by it. `make schemathesis` runs it, for as long as its variables say.
func TestSchemathesis(t *testing.T) {
	w := world.New(t)
	w.Put(world.Cluster("backend", "1s"), world.Cluster("other", "1s"))
	limits := client.LimitsUpdate{}
	for _, name := range []client.LimitName{"writes_per_minute", "token_writes_per_minute", "reads_per_minute", "token_reads_per_minute", "tokens", "credentials", "fleets"} {
		most := int64(10_000_000)
		limits[string(name)] = &most
	}
	w.Made(w.As(w.Operator).UpdateLimitsWithResponse(t.Context(), w.Tenant, limits))
	owner, err := w.As(w.Operator).CreateTokenWithResponse(t.Context(), w.Tenant, client.TokenCreate{Name: "schemathesis", Role: client.Owner})
	w.Made(owner, err)

	// What would take away what the others ask for is asked of things that are not there.
	gone := []string{"deleteTenant", "deleteFleet", "revokeToken", "revokeOperatorToken"}
	var exclude, include []string
	for _, id := range gone {
		exclude, include = append(exclude, "--exclude-operation-id", id), append(include, "--include-operation-id", id)
	}
	t.Run("what is there", func(t *testing.T) {
		run(t, w, owner.JSON201.Token, append([]string{"--config-file", "schemathesis.toml", "run", "--phases", "examples,coverage,fuzzing"}, exclude...)...)
	})
	t.Run("as an operator", func(t *testing.T) {
		run(t, w, w.Operator, append([]string{"--config-file", "schemathesis.toml", "run", "--phases", "examples,coverage,fuzzing", "--include-tag", "operator", "--include-tag", "tenants"}, exclude...)...)
	})
	t.Run("what is not there", func(t *testing.T) {
		run(t, w, owner.JSON201.Token, append([]string{"run", "--phases", "coverage,fuzzing"}, include...)...)
	})
}

// schemathesis is where it was installed, by what requirements.txt names.
var schemathesis string

func TestMain(m *testing.M) { world.Main(m, world.Suite{Name: "contract", Prepare: install}) }

func install(ctx context.Context) error {
	text, err := os.ReadFile("requirements.txt")
	if err != nil {
		return err
	}
	cache, err := fetch.CacheDir()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	schemathesis = filepath.Join(cache, "schemathesis-"+hex.EncodeToString(sum[:6]))
	err = fetch.Install(ctx, schemathesis, []string{
		"python3", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--target", "{dir}", "-r", "requirements.txt",
	}, nil)
	if err != nil {
		return fmt.Errorf("install schemathesis with pip: %w", err)
	}
	return nil
}

func program(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "python3", append([]string{filepath.Join(schemathesis, "bin", "schemathesis")}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+schemathesis)
	return cmd
}

// run fails the test with what schemathesis says unless that found nothing.
func run(t *testing.T, w *world.World, token string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
	defer cancel()
	args = append(args, w.API+"/openapi.yaml", "--checks", "all", "--no-color", "--header", "Authorization: Bearer "+token, "--generation-database", "none",
		"--max-examples", setting("EXAMPLES"), "--max-time", setting("SECONDS"), "--seed", setting("SEED"))
	out, err := program(ctx, args...).CombinedOutput()
	if text := strings.ReplaceAll(string(out), token, "TOKEN"); err != nil {
		t.Fatalf("%v\n%s", err, text)
	} else {
		t.Log(text)
	}
}

// setting is one of those that the Makefile sets.
func setting(name string) string {
	if s := os.Getenv("FAIRLEAD_SCHEMATHESIS_" + name); s != "" {
		return s
	}
	return map[string]string{"EXAMPLES": "5", "SECONDS": "15", "SEED": "1"}[name]
}
