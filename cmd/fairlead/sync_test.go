package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong on the command line is told with its flag, before a folder is made or a server is asked.
func TestSyncIsCalledWrongly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"token": "fln_x\n", "empty": " \n", "ca.pem": "no certificate"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const good = "--xds 127.0.0.1:1 --node-id n1 --token-file DIR/token "
	for name, c := range map[string]struct{ args, says string }{
		"no server":             {"--node-id n1 --token-file DIR/token", "--xds"},
		"no node":               {"--xds a:1 --token-file DIR/token", "--node-id"},
		"no token":              {"--xds a:1 --node-id n1 --plaintext", "node token --token-file FAIRLEAD_NODE_TOKEN"},
		"an empty token":        {"--xds a:1 --node-id n1 --token-file DIR/empty", "--token-file DIR/empty node token"},
		"a token that is none":  {"--xds a:1 --node-id n1 --token-file DIR/gone", "--token-file DIR/gone"},
		"two tokens":            {good + "--token-env T", "--token-file --token-env"},
		"a CA in plaintext":     {good + "--plaintext --ca-file DIR/ca.pem", "--ca-file --plaintext"},
		"a name in plaintext":   {good + "--plaintext --server-name a", "--server-name --plaintext"},
		"a CA without a CA":     {good + "--ca-file DIR/ca.pem", "--ca-file DIR/ca.pem certificate"},
		"a CA that is not":      {good + "--ca-file DIR/gone.pem", "--ca-file gone.pem"},
		"no port":               {strings.Replace(good, ":1", "", 1), "--xds \"127.0.0.1\" host:port"},
		"a URL":                 {strings.Replace(good, "127", "http://127", 1), "--xds \"http://127.0.0.1:1\" host:port"},
		"a second without port": {good + "--xds a", "--xds \"a\" host:port"},
		"no time":               {good + "--once --timeout 0s", "--timeout"},
		"Fairlead's own":        {good + "--metadata fairlead=x", "--metadata fairlead"},
		"a bare label":          {good + "--label role=edge", "--label metadata.role=edge"},
		"an admin that is none": {good + "--plaintext --listen-admin nowhere", "nowhere HOST:PORT"},
		"a relative view":       {good + "--plaintext --seen-as xds", "xds absolute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var printed, warned bytes.Buffer
			folder := filepath.Join(t.TempDir(), "files")
			args := append([]string{"sync", folder}, strings.Fields(strings.ReplaceAll(c.args, "DIR", dir))...)
			if code := run(t.Context(), &shell{out: &printed, err: &warned}, args); code != exitUsage {
				t.Errorf("exit status %d, want %d", code, exitUsage)
			}
			wantWords(t, warned.String(), strings.ReplaceAll(c.says, "DIR", dir))
			if _, err := os.Stat(folder); err == nil {
				t.Error("the folder was made")
			}
		})
	}
}
