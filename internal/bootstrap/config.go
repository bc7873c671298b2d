package bootstrap

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"fairlead/internal/fleet"
)

// Defaults of Config's fields.
const (
	DefaultCluster  = "fairlead"
	DefaultCAFile   = "/etc/ssl/certs/ca-certificates.crt"
	DefaultAdmin    = "127.0.0.1:9901"
	DefaultTokenEnv = "FAIRLEAD_TOKEN"
	defaultRetry    = time.Second
	defaultRetryMax = 30 * time.Second
)

// Config is one Envoy's way to Fairlead. Paths are those of the machine that Envoy runs on.
type Config struct {
	NodeID      string // needed; the credential must allow it
	NodeCluster string // "": DefaultCluster. Envoy demands one for file SDS
	// Region, Zone and SubZone are the node's locality, Metadata its metadata (JSON values).
	Region, Zone, SubZone string
	Metadata              map[string]any

	// XDSAddresses are the servers, host:port each; names or IP addresses, all in one
	// cluster and one priority: Envoy never fails over between priorities without health
	// checks.
	XDSAddresses []string
	// Delta asks for the incremental protocol; false is state of the world.
	Delta bool

	// Plaintext is for a server on this machine: the token crosses the wire in the clear.
	Plaintext bool
	// CAFile holds the certificates that the server's is checked against; "" is
	// DefaultCAFile. ServerName is the name in the server's certificate; "" is the host of
	// the first address.
	CAFile, ServerName string

	// One of the two, or neither if Plaintext. TokenFile is read through TokenSDSFile (see
	// TokenSDS), which "" puts beside it as fairlead_token.yaml: a token that is replaced
	// by a rename is used by the next stream. TokenEnv is the variable that holds the
	// token; a new one needs a restart.
	TokenFile, TokenSDSFile string
	TokenEnv                string

	// AdminAddress is Envoy's admin interface, which has no access control; "" is
	// DefaultAdmin.
	AdminAddress string
	// RetryBase and RetryMax bound the pause before a new stream (full jitter); 0 is 1 s
	// and 30 s.
	RetryBase, RetryMax time.Duration
	// InitialFetchTimeout is how long Envoy waits for its first clusters and listeners
	// before it serves without; 0 is for ever.
	InitialFetchTimeout time.Duration
}

func (c Config) withDefaults() Config {
	orDefault(&c.NodeCluster, DefaultCluster)
	orDefault(&c.AdminAddress, DefaultAdmin)
	if !c.Plaintext {
		orDefault(&c.CAFile, DefaultCAFile)
		if c.ServerName == "" && len(c.XDSAddresses) > 0 {
			c.ServerName, _, _ = net.SplitHostPort(c.XDSAddresses[0]) // a bad address is found by check
		}
	}
	if c.TokenFile != "" {
		orDefault(&c.TokenSDSFile, path.Join(path.Dir(c.TokenFile), "fairlead_token.yaml"))
	}
	if c.RetryBase == 0 {
		c.RetryBase = defaultRetry
	}
	if c.RetryMax == 0 {
		c.RetryMax = max(defaultRetryMax, c.RetryBase)
	}
	return c
}

func orDefault(s *string, value string) {
	if *s == "" {
		*s = value
	}
}

// check finds the first field that Envoy, or good sense, would refuse. c has its defaults.
func (c Config) check() error {
	texts := map[string]string{
		"NodeID": c.NodeID, "NodeCluster": c.NodeCluster, "Region": c.Region, "Zone": c.Zone, "SubZone": c.SubZone,
		"CAFile": c.CAFile, "ServerName": c.ServerName, "TokenFile": c.TokenFile, "TokenSDSFile": c.TokenSDSFile,
		"AdminAddress": c.AdminAddress, "XDSAddresses": strings.Join(c.XDSAddresses, ","),
	}
	for _, field := range slices.Sorted(maps.Keys(texts)) {
		if !printable(texts[field]) {
			return invalid(field, "holds a control character or is not UTF-8")
		}
	}
	if c.NodeID == "" {
		return invalid("NodeID", "must be set")
	}
	if len(c.XDSAddresses) == 0 {
		return invalid("XDSAddresses", "must hold an address")
	}
	for _, a := range c.XDSAddresses {
		if _, err := parseAddress(a, 1); err != nil {
			return invalid("XDSAddresses", err.Error())
		}
	}
	if _, err := parseAddress(c.AdminAddress, 0); err != nil {
		return invalid("AdminAddress", err.Error())
	}
	if c.RetryBase < time.Millisecond || c.RetryMax < c.RetryBase {
		return invalid("RetryBase", "must be 1 ms or more, and at most RetryMax")
	}
	if c.InitialFetchTimeout < 0 {
		return invalid("InitialFetchTimeout", "must not be negative")
	}
	if _, err := metadata(c.Metadata); err != nil {
		return err
	}
	return c.checkCredential()
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c Config) checkCredential() error {
	switch {
	case c.Plaintext && c.CAFile != "":
		return invalid("CAFile", "means nothing with Plaintext")
	case c.TokenFile != "" && c.TokenEnv != "":
		return invalid("TokenEnv", "and TokenFile exclude each other")
	case c.TokenFile == "" && c.TokenEnv == "" && !c.Plaintext:
		return invalid("TokenFile", "or TokenEnv must be set")
	case c.TokenFile != "" && !path.IsAbs(c.TokenFile):
		return invalid("TokenFile", "must be an absolute path: Envoy's working directory is not ours")
	case c.TokenSDSFile != "" && !path.IsAbs(c.TokenSDSFile):
		return invalid("TokenSDSFile", "must be an absolute path: Envoy's working directory is not ours")
	case c.TokenEnv != "" && !variableName.MatchString(c.TokenEnv):
		return invalid("TokenEnv", "is not the name of an environment variable")
	}
	return nil
}

func invalid(field, why string) error {
	return fmt.Errorf("bootstrap: %s %s: %w", field, why, fleet.ErrInvalid)
}

// printable reports whether s can stand in a YAML file: JSON would write DEL and the C1
// controls as they are, and YAML forbids them.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

type address struct {
	Host string
	Port int
}

func parseAddress(s string, minPort int) (address, error) {
	host, text, err := net.SplitHostPort(s)
	if err != nil || host == "" {
		return address{}, fmt.Errorf("holds %q, which is not host:port", s)
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < minPort || port > 65535 {
		return address{}, fmt.Errorf("holds %q, whose port is none", s)
	}
	return address{host, port}, nil
}

// metadata is JSON, which is YAML; "" if there is none.
func metadata(m map[string]any) (string, error) {
	if len(m) == 0 {
		return "", nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", invalid("Metadata", "is not JSON: "+err.Error())
	}
	if !printable(string(text)) {
		return "", invalid("Metadata", "holds a control character or is not UTF-8")
	}
	return string(text), nil
}
