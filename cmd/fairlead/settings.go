package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"fairlead/internal/auth"
)

// connection is where a command finds its fleet. It is part of every command that asks
// the API, and not of the whole command line: "fairlead dev" has flags of the same names.
type connection struct {
	Server    string      `env:"FAIRLEAD_URL" placeholder:"URL" group:"Connection" help:"The API, such as https://fairlead.example.com."`
	Token     auth.Secret `env:"FAIRLEAD_TOKEN" placeholder:"TOKEN" group:"Connection" help:"The API token; - reads it from the standard input. On the command line others on this machine and the shell's history have it: better --token-file, or the variable."`
	TokenFile string      `env:"FAIRLEAD_TOKEN_FILE" placeholder:"FILE" group:"Connection" help:"A file that holds the API token."`
	Tenant    string      `env:"FAIRLEAD_TENANT" placeholder:"NAME" group:"Connection" help:"The tenant."`
	Fleet     string      `env:"FAIRLEAD_FLEET" placeholder:"NAME" group:"Connection" help:"The fleet."`
	Context   string      `env:"FAIRLEAD_CONTEXT" placeholder:"NAME" group:"Connection" help:"What \"fairlead login\" saved under this name; without it, what \"fairlead context use\" chose. What is given beside it wins."`
	ReadyFile string      `env:"FAIRLEAD_READY_FILE" placeholder:"FILE" group:"Connection" help:"The file that \"fairlead dev\" writes: it holds all of these. Without a server and a token, .fairlead/ready.json is taken if it is there."`
}

// target is a connection with everything found.
type target struct {
	server        *url.URL
	readyFile     string // where the server was found; "" if it was given
	token         auth.Secret
	tenant, fleet string
}

// defaultReadyFile is where "fairlead dev" leaves its ready file.
var defaultReadyFile = filepath.Join(".fairlead", "ready.json")

// reach is what a command is about: it needs the settings up to that.
type reach int

const (
	ofServer reach = iota
	ofTenant
	ofFleet
)

// target finds every setting, or says in a sentence which one is missing.
func (c connection) target(sh *shell, about reach) (t target, err error) {
	if err := c.choose(sh); err != nil {
		return t, err
	}
	if err := c.tokenOnTheLine(sh); err != nil {
		return t, err
	}
	if c.TokenFile != "" {
		if c.Token, err = readToken(c.TokenFile); err != nil {
			return t, err
		}
	}
	if err = c.fromContext(sh); err != nil {
		return t, err
	}
	if t.readyFile, err = c.fromReadyFile(sh); err != nil {
		return t, err
	}
	for _, need := range []struct {
		value, what, how string
		of               reach
	}{
		{c.Server, "server", `give --server or FAIRLEAD_URL, save one with "fairlead login", or start one here with "make run"`, ofServer},
		{c.Token.Reveal(), "API token", "give FAIRLEAD_TOKEN, or --token-file or FAIRLEAD_TOKEN_FILE", ofServer},
		{c.Tenant, "tenant", "give --tenant or FAIRLEAD_TENANT", ofTenant},
		{c.Fleet, "fleet", "give --fleet or FAIRLEAD_FLEET", ofFleet},
	} {
		if need.value == "" && need.of <= about {
			return t, usageError("no " + need.what + " is set: " + need.how)
		}
	}
	if strings.ContainsFunc(c.Token.Reveal(), func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return t, usageError("the API token holds a character that no token has: is it the right text, on one line?")
	}
	for _, name := range []string{c.Tenant, c.Fleet} {
		if name == "." || name == ".." {
			return t, usageError(name + " is not the name of a tenant or a fleet")
		}
	}
	t.token, t.tenant, t.fleet = c.Token, c.Tenant, c.Fleet
	t.server, err = parseServer(c.Server)
	return t, err
}

// choose settles what excludes each other. What stands on the command line wins over the
// environment; both on one level is a mistake that would change the wrong fleet.
func (c *connection) choose(sh *shell) error {
	for _, other := range []struct {
		name string
		of   *string
	}{{"server", &c.Server}, {"context", &c.Context}} {
		if err := chooseOne(sh, other.name, other.of, "ready-file", &c.ReadyFile); err != nil {
			return err
		}
	}
	token := c.Token.Reveal()
	err := chooseOne(sh, "token", &token, "token-file", &c.TokenFile)
	c.Token = auth.Secret(token)
	return err
}

// tokenOnTheLine reads the token that --token - asks for, and warns of one that stands on the command line itself.
func (c *connection) tokenOnTheLine(sh *shell) error {
	switch {
	case c.Token == "-":
		token, err := sh.readLine()
		if err == nil && token == "" {
			err = usageError("the standard input holds no API token")
		}
		c.Token = auth.Secret(token)
		return err
	case c.Token != "" && sh.onLine["token"]:
		fmt.Fprintln(sh.err, "warning: the token stands on the command line, where others on this machine and the shell's history have it: give --token-file, FAIRLEAD_TOKEN or --token -")
	}
	return nil
}

// readLine reads the first line with something on it, without what surrounds it, and no byte more: what follows may be
// the documents of --file -.
func (sh *shell) readLine() (string, error) {
	var line []byte
	for one := make([]byte, 1); len(line) < 4096; {
		n, err := sh.in.Read(one)
		line = append(line, one[:n]...)
		text := strings.TrimSpace(string(line))
		if errors.Is(err, io.EOF) || err == nil && text != "" && one[0] == '\n' {
			return text, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", usageError("the first line of the standard input is too long for an API token")
}

func chooseOne(sh *shell, nameA string, a *string, nameB string, b *string) error {
	switch {
	case *a == "" || *b == "":
	case sh.onLine[nameA] == sh.onLine[nameB]:
		return usageError(fmt.Sprintf("--%s and --%s exclude each other: give one of them, on the command line or in the environment", nameA, nameB))
	case sh.onLine[nameA]:
		*b = ""
	default:
		*a = ""
	}
	return nil
}

// readyFile is what is used of the file that "fairlead dev" writes.
type readyFile struct {
	URL    string      `json:"api_url"`
	Token  auth.Secret `json:"api_token"`
	Tenant string      `json:"tenant"`
	Fleet  string      `json:"fleet"`
}

// fromReadyFile fills what was not given. The file of the working directory is not taken
// when a token was given: a directory from somewhere else must not say where that goes.
func (c *connection) fromReadyFile(sh *shell) (string, error) {
	name := c.ReadyFile
	if name == "" {
		name = filepath.Join(sh.dir, defaultReadyFile)
		if _, err := os.Stat(name); err != nil || c.Server != "" || c.Token != "" {
			return "", nil //nolint:nilerr // no such file: it was not asked for either
		}
	}
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", usageError(fmt.Sprintf(`the ready file %s is not there: "make run" and "fairlead dev" write it when all is up`, name))
	} else if err != nil {
		return "", fmt.Errorf("read the ready file: %w", err)
	}
	var r readyFile
	if err := json.Unmarshal(b, &r); err != nil {
		return "", usageError(fmt.Sprintf("%s is not a ready file: it does not hold the JSON that \"fairlead dev\" writes", name))
	}
	for _, s := range []struct {
		have *string
		read string
	}{{&c.Server, r.URL}, {&c.Tenant, r.Tenant}, {&c.Fleet, r.Fleet}} {
		if *s.have == "" {
			*s.have = s.read
		}
	}
	if c.Token == "" {
		c.Token = r.Token
	}
	return name, nil
}

func readToken(name string) (auth.Secret, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("read the token file: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", usageError("the token file " + name + " is empty")
	}
	return auth.Secret(token), nil
}

// parseServer never repeats what it was given if that may hold a password.
func parseServer(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, usageError("the server must be a URL such as https://fairlead.example.com or http://127.0.0.1:8080")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, usageError("the server's URL must be without user, password, query and fragment")
	}
	return u, nil
}

// exposed reports whether a token sent to u crosses a network in the clear.
func exposed(u *url.URL) bool {
	if u.Scheme == "https" || u.Hostname() == "localhost" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return ip == nil || !ip.IsLoopback()
}
