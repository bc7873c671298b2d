package world

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead/internal/bootstrap"
	"fairlead/internal/fleet"
	"fairlead/internal/localenvoy"
)

// Envoy starts a real Envoy against an xDS address and waits until it serves. edit may
// change its bootstrap.
func (w *World) Envoy(id, xdsAddress string, delta bool, edit ...func(string) string) *localenvoy.Envoy {
	w.T.Helper()
	e := w.Launch(id, xdsAddress, delta, edit...)
	w.AwaitReady(e, Soon)
	return e
}

// Launch is Envoy without waiting.
func (w *World) Launch(id, xdsAddress string, delta bool, edit ...func(string) string) *localenvoy.Envoy {
	w.T.Helper()
	text, err := bootstrap.Envoy(bootstrap.Config{
		NodeID: id, NodeCluster: w.Fleet, XDSAddresses: []string{xdsAddress}, Delta: delta, Plaintext: true,
		TokenEnv: "FAIRLEAD_NODE_TOKEN", AdminAddress: AnyPort, RetryBase: 500 * time.Millisecond, RetryMax: 30 * time.Second,
	})
	Must(w.T, err)
	for _, f := range edit {
		text = []byte(f(string(text)))
	}
	dir, err := os.MkdirTemp(w.Dir, "envoy-"+id+"-")
	Must(w.T, err)
	return w.StartEnvoy(localenvoy.Config{Bootstrap: text, Dir: dir, Env: []string{"FAIRLEAD_NODE_TOKEN=" + w.NodeToken}})
}

// StartEnvoy starts the tests' Envoy. It outlives a step; the test fails if it ever waited
// for what it asked for until its timeout, but for what may be Late.
func (w *World) StartEnvoy(c localenvoy.Config) *localenvoy.Envoy {
	w.T.Helper()
	if c.Bin == "" {
		c.Bin = envoyBin
	}
	e, err := localenvoy.Start(w.Whole.Context(), c)
	Must(w.T, err)
	w.Whole.Cleanup(func() {
		_ = e.Stop()
		for line := range strings.Lines(string(Read(w.Whole, e.LogFile()))) {
			_, url, late := strings.Cut(strings.TrimSpace(line), "initial fetch timed out for ")
			if t, is := fleet.TypeFromURL(url); late && !(is && slices.Contains(w.Late, t)) {
				w.Whole.Errorf("Envoy waited for %s until its timeout", url)
			}
		}
		Dump(w.Whole, e.LogFile())
	})
	return e
}

// UnshuffledEnvoy is a program that starts the tests' Envoy without randomized addresses. It writes the maps of its node in the same order each time.
func (w *World) UnshuffledEnvoy() string {
	w.T.Helper()
	path := filepath.Join(w.Dir, "unshuffled-envoy")
	Must(w.T, os.WriteFile(path, []byte(fmt.Sprintf("#!/bin/sh\nexec setarch -R %q \"$@\"\n", envoyBin)), 0o700)) //nolint:gosec // it is run
	return path
}

// AwaitReady waits until an Envoy serves.
func (w *World) AwaitReady(e *localenvoy.Envoy, within time.Duration) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.T.Context(), within)
	defer cancel()
	Must(w.T, e.Ready(ctx))
}
