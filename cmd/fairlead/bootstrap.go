package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/bootstrap"
	"fairlead/internal/envoyversion"
	"fairlead/internal/filesync"
	"fairlead/internal/fleet"
)

// bootstrapCommand prints the file that a client of the xDS servers starts with. The token is not in the file. It asks no
// server, but with --fallback-dir.
type bootstrapCommand struct {
	Client     string        `name:"client" enum:"envoy,google-grpc,grpc,relay" default:"envoy" placeholder:"KIND" help:"What starts with the file: envoy; google-grpc, an Envoy with its second gRPC client; grpc, a gRPC client or server; relay, an Envoy on the machine of gRPC clients that adds the token. Default: envoy."`
	NodeID     string        `name:"node-id" required:"" placeholder:"ID" help:"The client's node.id, which the node token must admit."`
	Cluster    string        `name:"node-cluster" placeholder:"NAME" help:"The client's node.cluster; for people and selectors."`
	Region     string        `name:"region" placeholder:"NAME" help:"Of the client's locality, as --zone and --sub-zone are."`
	Zone       string        `name:"zone" placeholder:"NAME" help:"See --region."`
	SubZone    string        `name:"sub-zone" placeholder:"NAME" help:"See --region."`
	Labels     nodeLabels    `embed:""`
	XDS        []string      `name:"xds" placeholder:"HOST:PORT" help:"The xDS servers; one name with all addresses, or several, but for google-grpc. For --client grpc without a token it is the relay, or the address of fairlead dev --open-xds."`
	Failover   []string      `name:"failover" placeholder:"HOST:PORT" help:"xDS servers that an Envoy asks as long as none of --xds has ever answered it: those of another region. For --client envoy with --api grpc."`
	TokenFile  string        `name:"token-file" type:"path" xor:"token" placeholder:"FILE" help:"File with the node token, on the client's machine; see above. If it is on this one, it is checked."`
	TokenEnv   string        `name:"token-env" xor:"token" placeholder:"NAME" help:"Variable with the node token (envoy and relay), FAIRLEAD_NODE_TOKEN by default; a new one needs a restart."`
	CAFile     string        `name:"ca-file" placeholder:"FILE" help:"Certificates that the server's is checked against, on the client's machine; the system's by default."`
	ServerName string        `name:"server-name" placeholder:"NAME" help:"Name in the server's certificate; the host of the first address by default, and always for grpc."`
	Plaintext  bool          `name:"plaintext" help:"No TLS: the token crosses the wire in the clear. For a server, or for grpc a relay, on this machine."`
	API        string        `name:"api" enum:"grpc,rest,files" default:"grpc" placeholder:"KIND" help:"How Envoy asks: grpc, a stream; rest, polls over HTTP/1.1, for an Envoy alone, where each config source in the fleet's content must be of REST too; or files, from a FOLDER, of no server. Default: grpc."`
	Folder     string        `arg:"" optional:"" type:"path" help:"Of --api files: the folder that \"fairlead sync\" keeps, where Envoy sees it."`
	Load       bool          `name:"load-reports" help:"Have Envoy report its load, see docs/load.md. Envoy with --api grpc alone; gRPC clients report what clusters with lrs_server ask for."`
	SotW       bool          `name:"sotw" help:"State of the world in the place of delta. gRPC clients speak nothing else."`
	Relay      string        `name:"relay-listen" placeholder:"HOST:PORT" help:"Where the relay listens for gRPC clients, loopback only: whoever connects acts as the fleet; 127.0.0.1:18002 by default."`
	Admin      string        `name:"admin" placeholder:"PATH" help:"Where Envoy's admin interface listens: the absolute path of a Unix socket, which Envoy's user alone may open, in a folder that is there; or HOST:PORT, where nobody is asked who they are. Nowhere by default."`
	Fallback   string        `name:"fallback-dir" type:"path" placeholder:"DIR" help:"Ask the servers now, as the node: where none answers, the file is that of --api files DIR, which \"fairlead sync\" keeps. For --client envoy, on its machine, before each start."`
	Within     time.Duration `name:"fallback-after" default:"10s" placeholder:"TIME" help:"Of --fallback-dir: how long the servers may take to answer."`
	Out        string        `name:"out" type:"path" placeholder:"FILE" help:"File to write; it is printed by default."`
}

// Help stands over the flags.
func (*bootstrapCommand) Help() string {
	return `The token never stands in the file. It comes

  envoy        from --token-file, which Envoy reads through a second file that is written beside --out: a
               new token is written by a rename and needs no restart. Before Envoy 1.40 it must not end in a newline.
               Or from --token-env.
  google-grpc  from --token-file, which must not end in a newline. Over TLS alone.
  grpc         from --token-file, which must not end in a newline, over TLS alone, and only if the client's
               environment has ` + bootstrap.CallCredsVariable + `=true: else no token is sent
               and nothing says so. A token is kept until it expires. Other gRPC clients use --plaintext and a
               relay on their machine, or on one machine the port of fairlead dev --open-xds.
  relay        as for envoy. gRPC clients connect to it with the file of --client grpc --plaintext.`
}

// Run prints or writes the file, and the one beside it through which Envoy reads a token.
func (c *bootstrapCommand) Run(ctx context.Context, sh *shell) error {
	client := bootstrap.Client(c.Client)
	if err := c.checkFlags(client); err != nil {
		return err
	}
	conf := c.config().For(client)
	if err := c.Labels.into(&conf); err != nil {
		return err
	}
	sds, err := c.tokenSDS(client, &conf)
	if err != nil {
		return err
	}
	text, err := bootstrap.Write(client, conf)
	if err != nil {
		return c.inFlags(err)
	}
	if err := c.checkToken(sh, client); err != nil {
		return err
	}
	if c.Fallback != "" {
		files, err := c.fallBack(ctx, sh, conf)
		if err != nil {
			return err
		}
		if files != nil {
			text, sds = files, nil
		}
	}
	if err := c.put(sh, text, conf.TokenSDSFile, sds); err != nil {
		return err
	}
	c.notes(sh, client, conf)
	return nil
}

// checkFlags checks which flags go with each other.
func (c *bootstrapCommand) checkFlags(client bootstrap.Client) error {
	switch envoy := client == bootstrap.ClientEnvoy; {
	case c.Fallback != "" && (c.API == "files" || !envoy):
		return usageError("--fallback-dir is for --client envoy that asks a server: with --api grpc or rest")
	case c.SotW && (client == bootstrap.ClientGRPC || client == bootstrap.ClientRelay):
		return usageError("--sotw means nothing with --client " + c.Client + ": gRPC clients speak nothing else")
	case c.API == "rest" && (c.SotW || !envoy):
		return usageError("--api rest is for --client envoy, without --sotw: a poll has the whole state")
	}
	if err := c.checkFolder(client); err != nil {
		return err
	}
	if client != bootstrap.ClientGRPC && c.Out != "" && filepath.Ext(c.Out) != ".yaml" {
		return usageError("--out must end in .yaml: Envoy reads a file of any other name as JSON")
	}
	return nil
}

// tokenSDS is the file through which Envoy reads the token, whose path it sets in conf; nil where there is none.
func (c *bootstrapCommand) tokenSDS(client bootstrap.Client, conf *bootstrap.Config) ([]byte, error) {
	if c.TokenFile == "" || client != bootstrap.ClientEnvoy && client != bootstrap.ClientRelay {
		return nil, nil
	}
	if c.Out == "" {
		return nil, usageError("--token-file needs --out: Envoy reads the token through a second file, which is written beside the first")
	}
	conf.TokenSDSFile = filepath.Join(filepath.Dir(c.Out), "fairlead_token.yaml")
	sds, err := bootstrap.TokenSDS(c.TokenFile)
	return sds, c.inFlags(err)
}

// checkToken looks at the token's file if it is on this machine: a client with a wrong one opens no stream, and does not say why. With a folder to fall back to it has the client
// start all the same.
func (c *bootstrapCommand) checkToken(sh *shell, client bootstrap.Client) error {
	if c.TokenFile == "" || c.API == "files" {
		return nil
	}
	file := plain(c.TokenFile)
	write := "write the token there with printf %s \"$TOKEN\" > " + file
	warn := func(what string) { fmt.Fprintln(sh.err, "warning: "+what) }
	info, err := os.Stat(c.TokenFile)
	if err == nil && !info.Mode().IsRegular() {
		return nil // a pipe can be read once
	}
	var raw []byte
	if err == nil {
		raw, err = os.ReadFile(c.TokenFile)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		warn("there is no file " + file + " on this machine: before the client starts " + write)
		return nil
	case err != nil:
		warn("--token-file is not checked: " + plain(err.Error()))
		return nil
	}
	text := string(raw)
	token := strings.TrimSuffix(text, "\n")
	envoy := client == bootstrap.ClientEnvoy || client == bootstrap.ClientRelay
	var wrong string
	switch {
	case token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		wrong = file + " does not hold a node token alone, on one line: the client would send a header that is invalid; " + write
	case token != text && !envoy:
		wrong = file + " ends in a newline: the client opens no stream, and does not say why; " + write
	case token != text:
		warn(file + " ends in a newline: an Envoy before " + envoyversion.Since(envoyversion.TokenNewline) + " opens no stream, and does not say why; " + write)
	}
	if wrong != "" && c.Fallback == "" {
		return usageError("--token-file: " + wrong)
	}
	if wrong != "" {
		warn(wrong)
	} else if _, err := auth.ParseNodeToken(token); err != nil {
		warn(file + ": " + fleet.Sentence(err))
	}
	return nil
}

// notes says what the file cannot: the bootstrap of a gRPC client is JSON, which has no comments.
func (c *bootstrapCommand) notes(sh *shell, client bootstrap.Client, conf bootstrap.Config) {
	if note := bootstrap.AdminNote(conf.AdminAddress); note != "" {
		fmt.Fprintln(sh.err, plain(note))
	}
	if note := bootstrap.ServersNote(client, conf); note != "" {
		fmt.Fprintln(sh.err, note)
	}
	if client == bootstrap.ClientGRPC && c.TokenFile != "" {
		fmt.Fprintf(sh.err, "Start the client with %s=true, or it sends no token and does not say so. %s must not end in a newline.\n",
			bootstrap.CallCredsVariable, plain(c.TokenFile))
	}
}

// fallBack returns the bootstrap of the folder if no server answers, else nil. It says which of the two it is.
func (c *bootstrapCommand) fallBack(ctx context.Context, sh *shell, conf bootstrap.Config) ([]byte, error) {
	if c.Within <= 0 {
		return nil, usageError("--fallback-after: give a time above 0")
	}
	asks := syncCommand{
		Directory: c.Fallback, NodeID: c.NodeID, Cluster: c.Cluster, Region: c.Region, Zone: c.Zone, SubZone: c.SubZone, Labels: c.Labels, XDS: slices.Concat(c.XDS, c.Failover),
		TokenFile: c.TokenFile, TokenEnv: c.TokenEnv, CAFile: c.CAFile, ServerName: c.ServerName, Plaintext: c.Plaintext, Timeout: c.Within,
	}
	asked, err := asks.config(sh)
	if err != nil {
		return nil, err
	}
	why := filesync.Reachable(ctx, asked)
	if why == nil {
		fmt.Fprintln(sh.err, "a server answers: Envoy asks it")
		return nil, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := filesync.Startable(c.Fallback); err != nil {
		return nil, fmt.Errorf("no server can be asked (%w), and %w", why, err)
	}
	text, err := bootstrap.Envoy(bootstrap.Config{
		NodeID: conf.NodeID, NodeCluster: conf.NodeCluster, Region: conf.Region, Zone: conf.Zone, SubZone: conf.SubZone, Metadata: conf.Metadata,
		AdminAddress: conf.AdminAddress, Folder: c.Fallback,
	})
	if err != nil {
		return nil, c.inFlags(err)
	}
	fmt.Fprintf(sh.err, "no server can be asked (%s): Envoy reads %s\n", plain(why.Error()), plain(c.Fallback))
	return text, nil
}

// checkFolder checks what goes with files, and what does not.
func (c *bootstrapCommand) checkFolder(client bootstrap.Client) error {
	switch files := c.API == "files"; {
	case files && (c.SotW || client != bootstrap.ClientEnvoy):
		return usageError("--api files is for --client envoy, without --sotw: it asks no server")
	case files && c.Folder == "":
		return usageError("--api files: give the folder that \"fairlead sync\" keeps")
	case !files && c.Folder != "":
		return usageError(c.Folder + " means nothing without --api files")
	case !files && len(c.XDS) == 0:
		return usageError("missing flags: --xds=HOST:PORT,...; fairlead bootstrap --help tells more")
	}
	return nil
}

func (c *bootstrapCommand) config() bootstrap.Config {
	return bootstrap.Config{
		NodeID: c.NodeID, NodeCluster: c.Cluster, Region: c.Region, Zone: c.Zone, SubZone: c.SubZone,
		XDSAddresses: c.XDS, FailoverAddresses: c.Failover, Delta: !c.SotW && c.API == "grpc", Folder: c.Folder, REST: c.API == "rest", Plaintext: c.Plaintext,
		CAFile: c.CAFile, ServerName: c.ServerName, TokenFile: c.TokenFile, TokenEnv: c.TokenEnv,
		RelayAddress: c.Relay, AdminAddress: c.Admin, LoadReports: c.Load,
	}
}

func (c *bootstrapCommand) put(sh *shell, text []byte, sdsFile string, sds []byte) error {
	if c.Out == "" {
		_, err := sh.out.Write(text)
		return err
	}
	if sds != nil {
		if err := os.WriteFile(sdsFile, sds, 0o644); err != nil { //nolint:gosec // the token is not in it
			return fmt.Errorf("write the file that names the token's: %w", err)
		}
	}
	if err := os.WriteFile(c.Out, text, 0o644); err != nil { //nolint:gosec // as above
		return fmt.Errorf("write the bootstrap: %w", err)
	}
	return nil
}

// bootstrapFlags are the flags that set the fields of bootstrap.Config.
var bootstrapFlags = map[string]string{
	"NodeID": "--node-id", "NodeCluster": "--node-cluster", "Region": "--region", "Zone": "--zone", "SubZone": "--sub-zone",
	"XDSAddresses": "--xds", "FailoverAddresses": "--failover", "Plaintext": "--plaintext", "CAFile": "--ca-file", "ServerName": "--server-name",
	"TokenFile": "--token-file", "TokenSDSFile": "--out", "TokenEnv": "--token-env",
	"Folder": "FOLDER", "RelayAddress": "--relay-listen", "AdminAddress": "--admin", "Metadata": "--metadata", "LoadReports": "--load-reports",
}

// inFlags says an error about a field in the words of the command line.
func (c *bootstrapCommand) inFlags(err error) error {
	var wrong *bootstrap.FieldError
	if !errors.As(err, &wrong) || bootstrapFlags[wrong.Field] == "" {
		return err
	}
	return usageError(fmt.Sprintf("%s %s (--client %s)", bootstrapFlags[wrong.Field], wrong.Why, c.Client))
}
