package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"fairlead/internal/auth"
)

// configDir is where the saved contexts are, after the XDG base directory specification.
func configDir(getenv func(string) string) string {
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) { // it has to be, or is passed over
		return filepath.Join(dir, "fairlead")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".config", "fairlead")
	}
	return ""
}

// savedContext is where a fleet is.
type savedContext struct {
	Server string `json:"server"`
	Tenant string `json:"tenant,omitempty"`
	Fleet  string `json:"fleet,omitempty"`
	Token  string `json:"token"`
}

// contexts is the file of what login saved.
type contexts struct {
	Current  string                  `json:"current"`
	Contexts map[string]savedContext `json:"contexts"`
}

func (sh *shell) contextFile() string { return filepath.Join(sh.config, "contexts.json") }

func (sh *shell) contexts() (c contexts, err error) {
	c.Contexts = map[string]savedContext{}
	if sh.config == "" {
		return c, nil
	}
	raw, err := os.ReadFile(sh.contextFile())
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	} else if err != nil {
		return c, fmt.Errorf("read the saved contexts: %w", err)
	}
	if json.Unmarshal(raw, &c) != nil || c.Contexts == nil { // what it holds may be a token
		return c, usageError(sh.contextFile() + ` does not hold what "fairlead login" writes: fix it, or remove it and log in again`)
	}
	return c, nil
}

// save writes the file as a whole, readable by its owner alone.
func (sh *shell) save(c contexts) error {
	if sh.config == "" {
		return usageError("there is no place for the saved contexts: set HOME or XDG_CONFIG_HOME")
	}
	raw, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(sh.config, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(sh.config, ".contexts-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // where it was not renamed
	_, err = f.Write(append(raw, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), sh.contextFile())
}

// fromContext fills in what was saved. A saved token goes to the server that it was saved
// with, and nowhere else.
func (c *connection) fromContext(sh *shell) error {
	if c.ReadyFile != "" || c.Server != "" && c.Context == "" {
		return nil
	}
	saved, err := sh.contexts()
	if err != nil {
		return err
	}
	name := c.Context
	if name == "" {
		name = saved.Current
	}
	if name == "" {
		return nil
	}
	use, there := saved.Contexts[name]
	switch {
	case !there:
		return usageError(fmt.Sprintf(`no context %q is saved: "fairlead context list" tells which are`, name))
	case c.Server != "" && c.Server != use.Server:
		return usageError(fmt.Sprintf("the context %q is of %s, and another server is given beside it: leave one of them out", name, use.Server))
	}
	token := c.Token.Reveal()
	for _, f := range []struct {
		have *string
		read string
	}{{&c.Server, use.Server}, {&c.Tenant, use.Tenant}, {&c.Fleet, use.Fleet}, {&token, use.Token}} {
		if *f.have == "" {
			*f.have = f.read
		}
	}
	c.Token = auth.Secret(token)
	return nil
}

func (c savedContext) words() string {
	out := c.Server
	if c.Tenant != "" {
		out += ", tenant " + c.Tenant
	}
	if c.Fleet != "" {
		out += ", fleet " + c.Fleet
	}
	return out
}

// contextCommand is "fairlead context".
type contextCommand struct {
	List   contextListCommand   `cmd:"" help:"List what login saved."`
	Use    contextUseCommand    `cmd:"" help:"Choose what commands are about where nothing else is said."`
	Delete contextDeleteCommand `cmd:"" help:"Forget one, with its token."`
}

type contextListCommand struct {
	JSON bool `name:"json" help:"Print JSON, without the tokens."`
}

// Run prints the contexts.
func (c *contextListCommand) Run(sh *shell) error {
	saved, err := sh.contexts()
	if err != nil {
		return err
	}
	items := []shownContext{}
	t := table{{"CURRENT", "NAME", "SERVER", "TENANT", "FLEET"}}
	for _, name := range slices.Sorted(maps.Keys(saved.Contexts)) {
		x, mark := saved.Contexts[name], ""
		if name == saved.Current {
			mark = "*"
		}
		items = append(items, saved.shown(name))
		t = append(t, []string{mark, name, x.Server, x.Tenant, x.Fleet})
	}
	switch {
	case c.JSON:
		return sh.printContexts(map[string]any{"items": items})
	case len(items) == 0:
		fmt.Fprintln(sh.out, `nothing is saved yet: "fairlead login --server URL" does it`)
		return nil
	}
	fmt.Fprint(sh.out, t)
	return nil
}

// shownContext is what is printed of a context: all but its token.
type shownContext struct {
	Name    string `json:"name"`
	Current bool   `json:"current"`
	Server  string `json:"server"`
	Tenant  string `json:"tenant,omitempty"`
	Fleet   string `json:"fleet,omitempty"`
}

func (c contexts) shown(name string) shownContext {
	x := c.Contexts[name]
	return shownContext{name, name == c.Current, x.Server, x.Tenant, x.Fleet}
}

func (sh *shell) printContexts(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return (&session{shell: sh}).printJSON(raw)
}

type contextUseCommand struct {
	Name string `arg:"" help:"The context's name."`
	JSON bool   `name:"json" help:"Print JSON: the context in use, without its token."`
}

// Run chooses a context.
func (c *contextUseCommand) Run(sh *shell) error {
	return sh.changeContexts(c.Name, c.JSON, func(saved *contexts) { saved.Current = c.Name })
}

type contextDeleteCommand struct {
	Name string `arg:"" help:"The context's name."`
	JSON bool   `name:"json" help:"Print JSON: the context in use, without its token; {} where none is."`
}

// Run forgets a context.
func (c *contextDeleteCommand) Run(sh *shell) error {
	return sh.changeContexts(c.Name, c.JSON, func(saved *contexts) {
		delete(saved.Contexts, c.Name)
		if saved.Current == c.Name {
			saved.Current = ""
		}
	})
}

func (sh *shell) changeContexts(name string, asJSON bool, change func(*contexts)) error {
	saved, err := sh.contexts()
	if err != nil {
		return err
	}
	if _, there := saved.Contexts[name]; !there {
		return usageError(fmt.Sprintf(`no context %q is saved: "fairlead context list" tells which are`, name))
	}
	change(&saved)
	if err := sh.save(saved); err != nil {
		return err
	}
	switch {
	case asJSON && saved.Current == "":
		return sh.printContexts(struct{}{})
	case asJSON:
		return sh.printContexts(saved.shown(saved.Current))
	case saved.Current == "":
		fmt.Fprintln(sh.out, "no context is in use")
		return nil
	}
	fmt.Fprintf(sh.out, "%s is in use: %s\n", plain(saved.Current), plain(saved.Contexts[saved.Current].words()))
	return nil
}
