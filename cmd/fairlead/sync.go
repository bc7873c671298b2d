package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"fairlead/internal/bootstrap"
	"fairlead/internal/filesync"
	"fairlead/internal/fleet"
)

// syncCommand is "fairlead sync".
type syncCommand struct {
	Directory  string        `arg:"" type:"path" help:"The folder: a new one, an empty one, or one that this command keeps already."`
	NodeID     string        `name:"node-id" required:"" placeholder:"ID" help:"The node.id of the proxy, which the node token must admit."`
	Cluster    string        `name:"node-cluster" placeholder:"NAME" help:"The proxy's node.cluster; for people and selectors."`
	Region     string        `name:"region" placeholder:"NAME" help:"Of the proxy's locality, as --zone and --sub-zone are."`
	Zone       string        `name:"zone" placeholder:"NAME" help:"See --region."`
	SubZone    string        `name:"sub-zone" placeholder:"NAME" help:"See --region."`
	Labels     nodeLabels    `embed:""`
	XDS        []string      `name:"xds" required:"" placeholder:"HOST:PORT" help:"The xDS servers, tried one after the other."`
	TokenFile  string        `name:"token-file" type:"path" xor:"token" placeholder:"FILE" help:"File with the node token. It is read for each stream."`
	TokenEnv   string        `name:"token-env" xor:"token" placeholder:"NAME" help:"Variable with the node token; FAIRLEAD_NODE_TOKEN by default."`
	CAFile     string        `name:"ca-file" type:"path" placeholder:"FILE" help:"Certificates that the server's is checked against; the system's by default."`
	ServerName string        `name:"server-name" placeholder:"NAME" help:"Name in the server's certificate; the host of the address by default."`
	Plaintext  bool          `name:"plaintext" help:"No TLS: the token crosses the wire in the clear. For a server on this machine."`
	SeenAs     string        `name:"seen-as" placeholder:"PATH" help:"Where Envoy sees the folder, as in a container or an image; where it is by default."`
	Admin      string        `name:"listen-admin" placeholder:"URL" help:"Envoy's admin interface, HOST:PORT or the absolute path of its Unix socket: the server is told what Envoy makes of the files, and not that they are written."`
	Once       bool          `name:"once" help:"End when all that the server has for the node is written."`
	Timeout    time.Duration `name:"timeout" default:"1m" help:"Of --once: when to fail."`
}

// Help stands over the flags.
func (*syncCommand) Help() string {
	return `It asks the xDS servers as the proxy would, and keeps cds.json, lds.json, rds/, eds/, sds/, rtds/ and ecds/
for an Envoy that "fairlead bootstrap --api files" starts. The files are for its own user alone: run Envoy as the same.

Where it ACKs, the files are written; with --listen-admin, Envoy has taken them.`
}

// Run keeps the folder until it is stopped.
func (c *syncCommand) Run(ctx context.Context, sh *shell) error {
	conf, err := c.config(sh)
	if err != nil {
		return err
	}
	s, err := filesync.New(conf)
	if err != nil {
		return usageError(fleet.Sentence(err))
	}
	return s.Run(ctx)
}

func (c *syncCommand) config(sh *shell) (filesync.Config, error) {
	conf := filesync.Config{
		Directory: c.Directory, SeenAs: c.SeenAs, Servers: c.XDS, Version: builtNow().version,
		Once: c.Once, Within: c.Timeout, Admin: c.Admin, Log: func(words string) { fmt.Fprintln(sh.err, plain(words)) },
	}
	for _, server := range c.XDS { // else gRPC takes a port of its own, or the scheme for a host
		if err := bootstrap.CheckAddress(server); err != nil {
			return conf, usageError("--xds " + err.Error())
		}
	}
	if c.Once && c.Timeout <= 0 {
		return conf, usageError("--timeout: give a time above 0")
	}
	if c.Plaintext && (c.CAFile != "" || c.ServerName != "") {
		return conf, usageError("--ca-file and --server-name mean nothing with --plaintext")
	}
	var err error
	if conf.Node, err = c.node(); err != nil {
		return conf, err
	}
	if !c.Plaintext {
		if conf.TLS, err = c.tls(); err != nil {
			return conf, err
		}
	}
	conf.Token, err = c.token()
	return conf, err
}

// node is the proxy, as its own bootstrap would tell it.
func (c *syncCommand) node() (*core.Node, error) {
	b := bootstrap.Config{NodeID: c.NodeID, NodeCluster: c.Cluster, Region: c.Region, Zone: c.Zone, SubZone: c.SubZone}
	if err := c.Labels.into(&b); err != nil {
		return nil, err
	}
	if _, own := b.Metadata["fairlead"]; own {
		return nil, usageError("--metadata fairlead is Fairlead's own")
	}
	n := &core.Node{
		Id: b.NodeID, Cluster: cmp.Or(b.NodeCluster, bootstrap.DefaultCluster),
		Locality: &core.Locality{Region: b.Region, Zone: b.Zone, SubZone: b.SubZone},
	}
	if b.Metadata != nil {
		m, err := structpb.NewStruct(b.Metadata)
		if err != nil {
			return nil, usageError("--metadata: " + err.Error())
		}
		n.Metadata = m
	}
	return n, nil
}

func (c *syncCommand) tls() (*tls.Config, error) {
	conf := &tls.Config{ServerName: c.ServerName, MinVersion: tls.VersionTLS12}
	if c.CAFile == "" {
		return conf, nil
	}
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, usageError("--ca-file: " + err.Error())
	}
	conf.RootCAs = x509.NewCertPool()
	if !conf.RootCAs.AppendCertsFromPEM(pem) {
		return nil, usageError("--ca-file " + c.CAFile + " holds no certificate")
	}
	return conf, nil
}

// token is read when a stream begins, as it may have been replaced.
func (c *syncCommand) token() (func() (string, error), error) {
	if c.TokenFile != "" {
		read := func() (string, error) {
			text, err := os.ReadFile(c.TokenFile)
			if err != nil {
				return "", fmt.Errorf("read the node token: %w", err)
			}
			if token := strings.TrimSpace(string(text)); token != "" {
				return token, nil
			}
			return "", errors.New(c.TokenFile + " holds no node token")
		}
		if _, err := read(); err != nil {
			return nil, usageError("--token-file: " + err.Error())
		}
		return read, nil
	}
	name := cmp.Or(c.TokenEnv, bootstrap.DefaultTokenEnv)
	token := strings.TrimSpace(os.Getenv(name))
	if token == "" {
		return nil, usageError("there is no node token: say with --token-file where it is, or set " + name)
	}
	return func() (string, error) { return token, nil }, nil
}
