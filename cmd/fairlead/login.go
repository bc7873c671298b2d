package main

import (
	"context"
	"fmt"
	"strings"

	client "fairlead/clients/go"
	"fairlead/internal/auth"
)

// loginCommand is "fairlead login".
type loginCommand struct {
	Connection connection `embed:""`

	Name string `placeholder:"NAME" help:"The name to save it under; the tenant's and the fleet's, joined by a slash, where it is left out."`
	JSON bool   `name:"json" help:"Print JSON, without the token."`
}

// Help is printed with the command's own help.
func (*loginCommand) Help() string {
	return `The token is read from --token-file or FAIRLEAD_TOKEN, or else from the standard input. What is saved is used by every command that is not told otherwise; the file is $XDG_CONFIG_HOME/fairlead/contexts.json, or below ~/.config, and readable by you alone.`
}

// Run asks the API who the token is, and saves it.
func (c *loginCommand) Run(ctx context.Context, sh *shell) error {
	if c.Connection.Context != "" {
		return usageError("login takes the name of a context by --name")
	}
	if c.Connection.Server == "" {
		return usageError("say which server: --server https://fairlead.example.com")
	}
	if c.Connection.Token == "" && c.Connection.TokenFile == "" {
		fmt.Fprintln(sh.err, "the API token, on one line:")
		line, err := sh.readLine()
		if err != nil {
			return err
		}
		c.Connection.Token = auth.Secret(line)
	}
	s, err := c.Connection.openFor(sh, ofServer)
	if err != nil {
		return err
	}
	resp, err := s.api.Whoami(ctx)
	me, _, err := answer[client.Whoami](s, resp, err)
	if err != nil {
		return err
	}
	if s.tenant == "" {
		s.tenant = deref(me.Tenant)
	}
	if s.fleet == "" {
		s.fleet = deref(me.Fleet)
	}
	name := c.Name
	if name == "" {
		name = strings.Trim(s.tenant+"/"+s.fleet, "/")
	}
	if name == "" {
		name = s.server.Host
	}
	saved, err := sh.contexts()
	if err != nil {
		return err
	}
	saved.Current = name
	saved.Contexts[name] = savedContext{s.server.String(), s.tenant, s.fleet, s.token.Reveal()}
	if err := sh.save(saved); err != nil {
		return err
	}
	if c.JSON {
		return sh.printContexts(saved.shown(name))
	}
	fmt.Fprintf(sh.out, "saved as %s, and in use: %s\n", plain(name), plain(saved.Contexts[name].words()))
	return nil
}
