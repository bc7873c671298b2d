package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"fairlead/internal/localenvoy"
	"fairlead/internal/store/storetest"
)

// Suite is a package of tests in a folder of test/.
type Suite struct {
	Name string
	// Race builds the programs as the tests are built: with the race detector if they have it.
	Race bool
	// Prepare does what these tests need besides; nil: nothing.
	Prepare func(context.Context) error
}

// What all tests of a process share: the folder of our programs, and Envoy.
var binDir, envoyBin, envoyVersion string

// Main runs the tests and ends the process; it fails too if a goroutine is left over.
func Main(m *testing.M, s Suite) { goleak.VerifyTestMain(storetest.Main(runner{m, s})) }

// Bin is the path of one of our programs.
func Bin(program string) string { return filepath.Join(binDir, program) }

// EnvoyBin is the path of the Envoy that the tests run with.
func EnvoyBin() string { return envoyBin }

// EnvoyVersion is that of the Envoy that the tests run with, such as "1.40.0".
func EnvoyVersion() string { return envoyVersion }

// runner prepares what all tests share and takes it away again.
type runner struct {
	m     *testing.M
	suite Suite
}

// Run is testing.M's.
func (r runner) Run() int {
	dir, err := os.MkdirTemp("", "fairlead-"+r.suite.Name+"-")
	if err == nil {
		defer os.RemoveAll(dir)
		binDir = dir
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		err = r.suite.prepare(ctx)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "prepare the tests of %s: %v\n", r.suite.Name, err)
		return 1
	}
	return r.m.Run()
}

func (s Suite) prepare(ctx context.Context) (err error) {
	envoyBin, err = localenvoy.Find(ctx, localenvoy.FindConfig{Fetch: true, Progress: func(s string) { fmt.Fprintln(os.Stderr, s) }})
	if err != nil {
		return err
	}
	if envoyVersion, err = localenvoy.VersionOf(ctx, envoyBin); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "the tests of %s run with Envoy %s\n", s.Name, envoyVersion)
	if err := s.buildPrograms(ctx); err != nil || s.Prepare == nil {
		return err
	}
	return s.Prepare(ctx)
}

// Must ends the test if one of these is an error.
func Must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Read returns what a file holds.
func Read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	Must(t, err)
	return b
}
