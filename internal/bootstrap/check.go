package bootstrap

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/netip"
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

// FieldError says which field of a Config is wrong. It is fleet.ErrInvalid.
type FieldError struct {
	Field string // its name in Config
	Why   string // the rest of the sentence; names no other field
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("bootstrap: %s %s: %v", e.Field, e.Why, fleet.ErrInvalid)
}

// Unwrap makes it an ErrInvalid.
func (e *FieldError) Unwrap() error { return fleet.ErrInvalid }

func invalid(field, why string) error { return &FieldError{field, why} }

// kind is which file is to be written.
type kind int

const (
	envoy  kind = iota
	google      // Envoy with google_grpc
	relay
	grpc
	files // Envoy, of a Folder
)

func (k kind) String() string {
	return [...]string{"an Envoy", "an Envoy with google_grpc", "a relay", "a gRPC client", "an Envoy that reads files"}[k]
}

// foreign are the fields that mean nothing to a kind.
func (k kind) foreign() []string {
	switch k {
	case google:
		return []string{"FailoverAddresses", "REST", "LoadReports", "Folder", "Plaintext", "TokenEnv", "TokenSDSFile", "RetryBase", "RetryMax", "RelayAddress"}
	case relay:
		return []string{"FailoverAddresses", "REST", "LoadReports", "Folder", "GoogleGRPC", "RetryBase", "RetryMax", "InitialFetchTimeout"}
	case grpc:
		return []string{
			"FailoverAddresses", "REST", "LoadReports", "Folder", "GoogleGRPC", "ServerName", "TokenEnv", "TokenSDSFile", "AdminAddress",
			"RetryBase", "RetryMax", "InitialFetchTimeout", "RelayAddress",
		}
	case files:
		return []string{
			"XDSAddresses", "FailoverAddresses", "REST", "LoadReports", "Delta", "GoogleGRPC", "Plaintext", "CAFile", "ServerName", "TokenFile", "TokenSDSFile", "TokenEnv",
			"RetryBase", "RetryMax", "InitialFetchTimeout", "RelayAddress",
		}
	default:
		return []string{"RelayAddress"}
	}
}

// checkForeign finds a field that is set and means nothing to k. c has no defaults yet.
func (c Config) checkForeign(k kind) error {
	set := map[string]bool{
		"XDSAddresses": len(c.XDSAddresses) > 0, "FailoverAddresses": len(c.FailoverAddresses) > 0, "REST": c.REST, "LoadReports": c.LoadReports, "Folder": c.Folder != "", "Delta": c.Delta, "CAFile": c.CAFile != "", "TokenFile": c.TokenFile != "", "GoogleGRPC": c.GoogleGRPC, "Plaintext": c.Plaintext, "ServerName": c.ServerName != "",
		"TokenEnv": c.TokenEnv != "", "TokenSDSFile": c.TokenSDSFile != "", "AdminAddress": c.AdminAddress != "",
		"RetryBase": c.RetryBase != 0, "RetryMax": c.RetryMax != 0, "InitialFetchTimeout": c.InitialFetchTimeout != 0,
		"RelayAddress": c.RelayAddress != "",
	}
	for _, field := range k.foreign() {
		if set[field] {
			return invalid(field, "means nothing to "+k.String())
		}
	}
	return nil
}

// check finds the first field that the client, or good sense, would refuse. c has its
// defaults.
func (c Config) check(k kind) error {
	texts := map[string]string{
		"NodeID": c.NodeID, "NodeCluster": c.NodeCluster, "Region": c.Region, "Zone": c.Zone, "SubZone": c.SubZone,
		"CAFile": c.CAFile, "ServerName": c.ServerName, "TokenFile": c.TokenFile, "TokenSDSFile": c.TokenSDSFile,
		"AdminAddress": c.AdminAddress, "RelayAddress": c.RelayAddress, "Folder": c.Folder, "XDSAddresses": strings.Join(c.XDSAddresses, ","),
		"FailoverAddresses": strings.Join(c.FailoverAddresses, ","),
	}
	for _, field := range slices.Sorted(maps.Keys(texts)) {
		if !printable(texts[field]) {
			return invalid(field, "holds a control character or is not UTF-8")
		}
	}
	if c.NodeID == "" {
		return invalid("NodeID", "must be set")
	}
	if err := c.checkAddresses(k); err != nil {
		return err
	}
	if c.RetryBase < time.Millisecond || c.RetryMax < c.RetryBase {
		return invalid("RetryBase", "must be 1 ms or more, and at most the longest pause")
	}
	if c.REST && c.Delta {
		return invalid("Delta", "means nothing to polls over REST")
	}
	if c.REST && c.LoadReports {
		return invalid("LoadReports", "means nothing to polls over REST: load is reported over gRPC")
	}
	if c.REST && len(c.FailoverAddresses) > 0 {
		return invalid("FailoverAddresses", "means nothing to polls over REST: each one goes to any of the servers that answers")
	}
	if c.InitialFetchTimeout < 0 {
		return invalid("InitialFetchTimeout", "must not be negative")
	}
	if _, err := metadata(c.Metadata); err != nil {
		return err
	}
	if _, there := c.Metadata[ownMetadata]; there {
		return invalid("Metadata", ownMetadata+" is Fairlead's own: it tells which bootstrap this is")
	}
	return c.checkCredential(k)
}

func (c Config) checkAddresses(k kind) error {
	if len(c.XDSAddresses) == 0 && k != files {
		return invalid("XDSAddresses", "must hold an address")
	}
	if k == google && len(c.XDSAddresses) > 1 {
		return invalid("XDSAddresses", "may hold one address for "+k.String()+": give one name that has the addresses of all servers")
	}
	if _, err := parseAddresses("XDSAddresses", c.XDSAddresses); err != nil {
		return err
	}
	if _, err := parseAddresses("FailoverAddresses", c.FailoverAddresses); err != nil {
		return err
	}
	for i, a := range c.XDSAddresses {
		if k == grpc && slices.Contains(c.XDSAddresses[:i], a) {
			return invalid("XDSAddresses", fmt.Sprintf("holds %q twice: a gRPC client tries each server in turn", a))
		}
	}
	if _, err := parseAdmin(c.AdminAddress); err != nil {
		return err
	}
	at, err := parseAddress(c.RelayAddress, 0)
	if err != nil {
		return invalid("RelayAddress", err.Error())
	}
	if ip, err := netip.ParseAddr(at.Host); err != nil || !ip.IsLoopback() {
		return invalid("RelayAddress", "must be a loopback address such as 127.0.0.1: whoever reaches it acts as the node")
	}
	return nil
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (c Config) checkCredential(k kind) error {
	if k == files {
		if !path.IsAbs(c.Folder) {
			return invalid("Folder", "must be an absolute path: Envoy's working directory is not ours")
		}
		return nil
	}
	check := c.checkToken
	if c.TokenFile == "" && c.TokenEnv == "" {
		check = c.checkNoToken
	}
	if err := check(k); err != nil {
		return err
	}
	if c.TokenSDSFile != "" && !path.IsAbs(c.TokenSDSFile) {
		return invalid("TokenSDSFile", "must be an absolute path: Envoy's working directory is not ours")
	}
	return nil
}

// checkNoToken checks a bootstrap without a token: a client that could send one must.
func (c Config) checkNoToken(k kind) error {
	switch {
	case c.Plaintext && c.CAFile != "":
		return invalid("CAFile", "means nothing in plaintext")
	case k == grpc && !c.Plaintext:
		return invalid("TokenFile", "must be set; without a token a gRPC client needs plaintext and a relay (or fairlead dev --open-xds)")
	case k == google:
		return invalid("TokenFile", "must be set")
	case !c.Plaintext || k == relay:
		return invalid("TokenFile", "must be set, or the variable that holds the token")
	}
	return nil
}

func (c Config) checkToken(k kind) error {
	switch {
	case c.Plaintext && c.CAFile != "":
		return invalid("CAFile", "means nothing in plaintext")
	case c.TokenFile != "" && c.TokenEnv != "":
		return invalid("TokenEnv", "excludes a file with the token")
	case k == grpc && c.Plaintext && c.TokenFile != "":
		return invalid("TokenFile", "means nothing in plaintext to a gRPC client, which sends no token in the clear")
	case c.TokenFile != "" && !path.IsAbs(c.TokenFile):
		return invalid("TokenFile", "must be an absolute path: the client's working directory is not ours")
	case c.TokenEnv != "" && !variableName.MatchString(c.TokenEnv):
		return invalid("TokenEnv", "is not the name of an environment variable")
	}
	return nil
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

// CheckAddress says why a text is not the host:port of a server; nil if it is.
func CheckAddress(s string) error {
	_, err := parseAddress(s, 1)
	return err
}

// parseAddresses reads the addresses of servers, of a field.
func parseAddresses(field string, all []string) ([]address, error) {
	var out []address
	for _, s := range all {
		a, err := parseAddress(s, 1)
		if err != nil {
			return nil, invalid(field, err.Error())
		}
		out = append(out, a)
	}
	return out, nil
}

// longestSocket is what the kernel takes of a Unix socket's path.
const longestSocket = 107

// parseAdmin is the admin interface's address where it is host:port.
func parseAdmin(s string) (address, error) {
	switch {
	case s == "":
		return address{}, nil
	case !path.IsAbs(s):
		a, err := parseAddress(s, 0)
		if err != nil {
			return address{}, invalid("AdminAddress", err.Error()+", nor the absolute path of a Unix socket")
		}
		return a, nil
	case len(s) > longestSocket:
		return address{}, invalid("AdminAddress", fmt.Sprintf("must be %d bytes or shorter, as the path of a Unix socket", longestSocket))
	}
	return address{}, nil
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
