package main

import (
	"bytes"
	"context"
	"os"

	"fairlead/internal/bootstrap"
)

const goldenCluster = "type: clusters\nname: backend\nlabels: {team: shop}\nttl: 30s\nbody:\n  name: backend\n  connect_timeout: 2s\n"

// shownCommands are all commands of the command line, by their words. DIR is the test's own folder.
var shownCommands = map[string]shownCommand{
	"dev":        {wrong: []string{"--xds"}, noAPI: true},
	"login":      {},
	"bootstrap":  {args: []string{"--node-id", "edge-1", "--xds", "xds.example.com:18000"}, wrong: []string{"--node-id", "edge-1"}, noAPI: true},
	"completion": {args: []string{"fish"}, wrong: []string{"tcsh"}, noAPI: true},
	"version":    {wrong: []string{"now"}, noAPI: true},

	"context list":   {wrong: []string{"all"}, world: savedContexts, noAPI: true},
	"context use":    {args: []string{"acme/prod"}, wrong: []string{"acme/none"}, world: savedContexts, noAPI: true},
	"context delete": {args: []string{"acme/prod"}, wrong: []string{"acme/none"}, world: savedContexts, noAPI: true},

	"apply":              {args: []string{"-f", "DIR/backend.yaml"}, world: goldenFiles},
	"diff":               {args: []string{"-f", "DIR/backend.yaml"}, world: goldenFiles},
	"delete":             {args: []string{"clusters", "backend"}},
	"edit":               {args: []string{"clusters", "backend"}, world: secondsEditor},
	"secret tls":         {args: []string{"edge-tls", "--cert", "DIR/cert.pem", "--key", "DIR/key.pem"}, world: goldenFiles},
	"secret generic":     {args: []string{"edge-tls", "--file", "-"}, stdin: "a password"},
	"endpoints list":     {args: []string{"shop/a"}},
	"endpoints set":      {args: []string{"shop/a", "10.0.0.7:80"}},
	"endpoints rm":       {args: []string{"shop/b", "10.0.0.7:80"}},
	"endpoints register": {args: []string{"--cluster", "shop/a", "--address", "10.0.0.7:80", "--lease", "1s"}},
	"discover":           {args: []string{"--source", "file", "--file", "DIR/endpoints.yaml", "--once"}, wrong: []string{"--source", "file"}, world: goldenFiles},
	"rollback":           {args: []string{"6"}},
	"promote":            {args: []string{"--from", "edge", "--to", "prod"}},

	"get":          {args: []string{"-o", "table"}, json: []string{"clusters"}, wrong: []string{"clusters", "none"}},
	"describe":     {args: []string{"clusters", "backend"}},
	"findings":     {},
	"history list": {},
	"history show": {args: []string{"7"}},
	"audit":        {},
	"doctor":       {args: []string{"--bootstrap", "DIR/node.yaml", "--pid", "999999999"}, wrong: []string{}, world: doctorNode, noAPI: true},

	"support-bundle": {args: []string{"DIR/bundle.tar.gz"}, wrong: []string{"DIR/none/bundle.tar.gz"}},

	"receipt": {args: []string{"7"}},
	"nodes":   {},
	"load":    {},
	"events":  {},
	"why":     {args: []string{"edge-1"}},
	"retry":   {args: []string{"edge-1"}},
	"sync":    {wrong: []string{"DIR/files", "--node-id", "edge-1", "--xds", "127.0.0.1:1", "--token-env", "NO_SUCH_VARIABLE"}, noAPI: true},

	"import":   {args: []string{"DIR/envoy.yaml"}, wrong: []string{"DIR/none.yaml"}, world: goldenFiles, noAPI: true},
	"export":   {},
	"validate": {args: []string{"-f", "DIR/backend.yaml"}, wrong: []string{"-f", "DIR/none.yaml"}, world: goldenFiles, noAPI: true},

	"tenant list":       {},
	"tenant create":     {args: []string{"acme"}},
	"tenant delete":     {args: []string{"acme"}},
	"tenant restore":    {args: []string{"acme"}},
	"fleet show":        {},
	"fleet list":        {},
	"fleet create":      {args: []string{"canary"}},
	"fleet delete":      {args: []string{"edge"}},
	"fleet restore":     {args: []string{"edge"}},
	"token list":        {},
	"token create":      {args: []string{"pipeline", "--role", "ci", "--for-fleet", "edge"}},
	"token revoke":      {args: []string{"tok1"}},
	"credential list":   {},
	"credential create": {args: []string{"edge-*"}},
	"credential renew":  {args: []string{"cred1", "--old-expires", "2026-02-01"}},
	"credential revoke": {args: []string{"cred1"}},
}

// doctorNode is a bootstrap that leads to a port on which nothing listens.
func doctorNode(w *world) {
	text, err := bootstrap.Envoy(bootstrap.Config{NodeID: "edge-1", XDSAddresses: []string{"127.0.0.1:1"}, Plaintext: true, TokenFile: "/no/such/token"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.file("node.yaml", string(text))
}

// goldenFiles are the files that commands read.
func goldenFiles(w *world) {
	cert, key := keyPair(w.t)
	w.file("backend.yaml", goldenCluster)
	w.file("envoy.yaml", smallBootstrap)
	w.file("endpoints.yaml", "- {cluster: shop/a, address: \"10.0.0.7:80\"}\n")
	w.file("cert.pem", cert)
	w.file("key.pem", key)
}

func savedContexts(w *world) {
	w.file("xdg/contexts.json", `{"current": "acme/edge", "contexts": {"acme/edge": {"server": "https://fairlead.example.com", "tenant": "acme", "fleet": "edge", "token": "`+testToken+`"},
		"acme/prod": {"server": "https://fairlead.example.com", "tenant": "acme", "fleet": "prod", "token": "`+testToken+`"}}}`)
}

// secondsEditor is a person who makes a timeout longer.
func secondsEditor(w *world) {
	w.edit = func(_ context.Context, file string) error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, bytes.ReplaceAll(text, []byte("1s"), []byte("2s")), 0o600)
	}
}
