package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"fairlead/cmd/internal/doctor"
	servers "fairlead/cmd/internal/run"
	"fairlead/internal/auth"
)

// doctorCommand is "fairlead doctor".
type doctorCommand struct {
	Connection connection  `embed:""`
	Looks      doctorLooks `embed:""`

	JSON bool `name:"json" help:"Print what all checks saw as JSON."`
}

// doctorLooks says where the checks look besides the API.
type doctorLooks struct {
	Bootstrap      string      `type:"path" placeholder:"FILE" help:"On a node: the bootstrap that the proxy, or the gRPC client, starts with."`
	PID            int         `name:"pid" placeholder:"PID" help:"Of --bootstrap: the proxy's process, whose file limit is looked at; those called envoy by default."`
	Database       auth.Secret `env:"FAIRLEAD_DATABASE_URL" placeholder:"URL" help:"On a server: the Postgres of an API server or of an xDS server, as that server has it."`
	ListenDatabase auth.Secret `env:"FAIRLEAD_LISTEN_DATABASE_URL" placeholder:"URL" help:"Of --database: the direct way for LISTEN, as --listen-database-url of the xDS servers."`
	ReadDatabase   auth.Secret `env:"FAIRLEAD_READ_DATABASE_URL" placeholder:"URL" help:"Of --database: the hot standby of which fleets are read, as --read-database-url of the xDS servers."`
	AllowPlaintext bool        `name:"allow-plaintext-database" env:"FAIRLEAD_ALLOW_PLAINTEXT_DATABASE" help:"Of --database: accept a way that others can read, as the server does."`
	SealPublic     string      `name:"seal-public-key" env:"FAIRLEAD_SEAL_PUBLIC_KEY" type:"path" placeholder:"FILE" help:"Of --database: the API servers' public key, to be compared with that of the xDS servers that run."`
	SealPrivate    string      `name:"seal-private-key" env:"FAIRLEAD_SEAL_PRIVATE_KEY" type:"path" placeholder:"FILE" help:"The same of the xDS servers' private key."`
	VersionKey     string      `name:"version-key" env:"FAIRLEAD_VERSION_KEY" type:"path" placeholder:"FILE" help:"Of --database with the API servers' URL: their version key, to be compared with what they have signed."`
}

// Help stands over the flags.
func (*doctorCommand) Help() string {
	return `It looks for usual faults, and says of each what to do: on a node with --bootstrap, on a server with --database, and from anywhere
with the settings of the API. What is not given is not looked at. It changes nothing, and makes nobody a node.

It ends with 0 if no fault was found, with 1 if one was. docs/doctor.md lists all checks.`
}

// Run makes the checks that something is given for.
func (c *doctorCommand) Run(ctx context.Context, sh *shell) error {
	conf, err := c.Looks.config(sh, c.Connection)
	if err != nil {
		return err
	}
	report := doctor.Run(ctx, conf)
	if ctx.Err() != nil {
		return context.Canceled
	}
	if c.JSON {
		raw, err := json.Marshal(report)
		if err == nil {
			err = (&session{shell: sh}).printJSON(raw)
		}
		if err != nil {
			return err
		}
	} else {
		fmt.Fprint(sh.out, reportText(conf, report))
	}
	if report.Faults > 0 {
		return verdict(exitFailed)
	}
	return nil
}

// config is what to look at.
func (l doctorLooks) config(sh *shell, c connection) (doctor.Config, error) {
	for _, of := range []struct {
		flag string
		url  auth.Secret
	}{{"database", l.Database}, {"listen-database", l.ListenDatabase}, {"read-database", l.ReadDatabase}} {
		if sh.onLine[of.flag] && servers.HasPassword(of.url.Reveal()) {
			fmt.Fprintf(sh.err, "warning: --%s stands on the command line, where others on this machine and the shell's history have its password: give the variable FAIRLEAD_%s_URL\n",
				of.flag, strings.ToUpper(strings.ReplaceAll(of.flag, "-", "_")))
		}
	}
	conf := doctor.Config{
		Bootstrap: l.Bootstrap, PID: l.PID, Database: l.Database.Reveal(), ListenDatabase: l.ListenDatabase.Reveal(), ReadDatabase: l.ReadDatabase.Reveal(), AllowPlaintextDatabase: l.AllowPlaintext,
		SealPublic: l.SealPublic, SealPrivate: l.SealPrivate, VersionKey: l.VersionKey, Env: os.Getenv, Now: sh.now,
	}
	given := c.Server != "" || c.Token != "" || c.TokenFile != "" || c.Context != "" || c.ReadyFile != ""
	t, err := c.target(sh, ofServer)
	var missing usageError
	switch {
	case err == nil:
		if exposed(t.server) {
			fmt.Fprintf(sh.err, "warning: %s is not encrypted: the token can be read on its way\n", plain(t.server.String()))
		}
		conf.API = &doctor.API{URL: t.server, Token: t.token, Tenant: t.tenant, Fleet: t.fleet}
	case given || !errors.As(err, &missing):
		return conf, err
	case conf.Bootstrap == "" && conf.Database == "":
		return conf, usageError("there is nothing to look at: give --bootstrap FILE on a node, --database URL on a server, or a server and an API token")
	}
	return conf, nil
}

// reportText tells what was seen, and of what is wrong what to do. Of checks for which nothing was given there is one line.
func reportText(conf doctor.Config, r doctor.Report) string {
	var b strings.Builder
	left := map[string]int{}
	var order []string
	for i, check := range doctor.Checks() {
		if group := check.Group(); conf.Given(group) != "" {
			if left[group]++; left[group] == 1 {
				order = append(order, group)
			}
			continue
		}
		of := r.Checks[i]
		fmt.Fprintf(&b, "%-11s  %-19s  %s\n", stateWords[of.State], of.Check, plain(of.Saw))
		if of.Do != "" {
			fmt.Fprintf(&b, "%-11s  %-19s  what to do: %s\n", "", "", plain(of.Do))
		}
	}
	for _, group := range order {
		fmt.Fprintf(&b, "%-11s  %-19s  %s\n", stateWords[doctor.NotChecked], fmt.Sprintf("%s.* (%d)", group, left[group]), conf.Given(group))
	}
	fmt.Fprintf(&b, "%s, %s, %d not checked\n", number(r.Faults, "fault"), number(r.Warnings, "warning"), r.NotChecked)
	return b.String()
}

var stateWords = map[doctor.State]string{doctor.OK: "ok", doctor.Warning: "WARNING", doctor.Failed: "FAILED", doctor.NotChecked: "not checked"}

func number(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
