package main

import (
	"fmt"
	"os"
	"path/filepath"

	"fairlead/internal/bootstrap"
)

// bootstrapCommand prints the file that an Envoy starts with. It asks no server: the
// token is not in the file.
type bootstrapCommand struct {
	NodeID     string   `name:"node-id" required:"" placeholder:"ID" help:"The proxy's node.id, which the node token must admit."`
	Cluster    string   `name:"node-cluster" placeholder:"NAME" help:"The proxy's node.cluster; for people and selectors."`
	XDS        []string `name:"xds" required:"" placeholder:"HOST:PORT" help:"The xDS servers; one name with all addresses, or several."`
	TokenFile  string   `name:"token-file" type:"path" xor:"token" placeholder:"FILE" help:"File with the node token, on the proxy's machine; a new token is written by a rename and needs no restart. The file that tells Envoy to read it is written beside --out."`
	TokenEnv   string   `name:"token-env" xor:"token" placeholder:"NAME" help:"Variable with the node token; a new one needs a restart."`
	CAFile     string   `name:"ca-file" placeholder:"FILE" help:"Certificates that the server's is checked against, on the proxy's machine; the system's by default."`
	ServerName string   `name:"server-name" placeholder:"NAME" help:"Name in the server's certificate; the host of the first address by default."`
	Plaintext  bool     `name:"plaintext" help:"No TLS: the token crosses the wire in the clear. For a server on this machine."`
	SotW       bool     `name:"sotw" help:"State of the world in the place of delta."`
	Admin      string   `name:"admin" placeholder:"HOST:PORT" help:"Address of Envoy's admin page; 127.0.0.1:9901 by default."`
	Out        string   `name:"out" type:"path" placeholder:"FILE" help:"File to write; it is printed by default."`
}

// Run prints or writes the file.
func (c *bootstrapCommand) Run(sh *shell) error {
	conf := bootstrap.Config{
		NodeID: c.NodeID, NodeCluster: c.Cluster, XDSAddresses: c.XDS, Delta: !c.SotW, Plaintext: c.Plaintext,
		CAFile: c.CAFile, ServerName: c.ServerName, TokenFile: c.TokenFile, TokenEnv: c.TokenEnv, AdminAddress: c.Admin,
	}
	if c.TokenFile == "" && c.TokenEnv == "" {
		conf.TokenEnv = bootstrap.DefaultTokenEnv
	}
	var sds []byte
	if c.TokenFile != "" {
		if c.Out == "" {
			return usageError("--token-file needs --out: Envoy reads the token through a second file, which is written beside the first")
		}
		conf.TokenSDSFile = filepath.Join(filepath.Dir(c.Out), "fairlead_token.yaml")
		var err error
		if sds, err = bootstrap.TokenSDS(c.TokenFile); err != nil {
			return err
		}
	}
	text, err := bootstrap.Envoy(conf)
	if err != nil {
		return err
	}
	if c.Out == "" {
		_, err = sh.out.Write(text)
		return err
	}
	if sds != nil {
		if err := os.WriteFile(conf.TokenSDSFile, sds, 0o644); err != nil { //nolint:gosec // the token is not in it
			return fmt.Errorf("write the file that names the token's: %w", err)
		}
	}
	if err := os.WriteFile(c.Out, text, 0o644); err != nil { //nolint:gosec // as above
		return fmt.Errorf("write the bootstrap: %w", err)
	}
	return nil
}
