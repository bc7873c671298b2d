package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"fairlead/internal/localenvoy"
	"fairlead/internal/store/storetest"
)

// The programs under test, and which Envoy it is: "1.40.0".
var binDir, envoyBin, envoyVersion string

// runner prepares what all tests share and takes it away again.
type runner struct{ m *testing.M }

func (r runner) Run() int {
	dir, err := os.MkdirTemp("", "fairlead-e2e-")
	if err == nil {
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
		binDir = dir
		err = prepare(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepare the end-to-end tests:", err)
		return 1
	}
	return r.m.Run()
}

func TestMain(m *testing.M) {
	if os.Getenv(swarmEnv) != "" {
		if err := runSwarm(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "swarm:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(storetest.Main(runner{m}))
}

func prepare(ctx context.Context) (err error) {
	if os.Getenv("GORACE") == "" { // a program under the race detector takes a second to exit
		if err := os.Setenv("GORACE", "atexit_sleep_ms=10"); err != nil {
			return err
		}
	}
	envoyBin, err = localenvoy.Find(ctx, localenvoy.FindConfig{Fetch: true, Progress: func(s string) { fmt.Fprintln(os.Stderr, s) }})
	if err != nil {
		return err
	}
	if envoyVersion, err = localenvoy.VersionOf(ctx, envoyBin); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "the end-to-end tests run with Envoy", envoyVersion)
	args := append([]string{"build"}, raceFlags...)
	args = append(args, "-o", binDir+string(filepath.Separator), "./cmd/api", "./cmd/xds", "./cmd/fairlead")
	build := exec.CommandContext(ctx, "go", args...)
	build.Dir = filepath.Join("..", "..")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	return build.Run()
}
