package bootstrap

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"text/template"
	"time"
)

//go:embed *.tmpl
var texts embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"quote": quote, "seconds": seconds, "dir": path.Dir, "isIP": isIP,
}).ParseFS(texts, "*.tmpl"))

// The clusters that lead to Fairlead: a guard rule keeps configuration away from all that begins with the first word.
const (
	xdsCluster      = "fairlead_xds"
	failoverCluster = "fairlead_xds_failover"
)

// view is what the templates see.
type view struct {
	Config
	Cluster      string // of the proxy's that leads to Addresses
	Addresses    []address
	Failover     *view   // the same with the FailoverAddresses; nil without any
	Admin, Relay address // Admin is empty where it is a Unix socket, or off
	MetadataText string
	IsRelay      bool
}

// Target is the one address of google_grpc, OtherName whether the certificate is of
// another name.
func (v view) Target() string  { return v.Addresses[0].String() }
func (v view) OtherName() bool { return v.ServerName != v.Addresses[0].Host }

// Clusters are those of the proxy that lead to Fairlead.
func (v view) Clusters() []view {
	if v.Failover == nil {
		return []view{v}
	}
	return []view{v, *v.Failover}
}

// CDS and LDS are the files of a Folder.
func (v view) CDS() string { return path.Join(v.Folder, "cds.json") }

// LDS is as CDS.
func (v view) LDS() string { return path.Join(v.Folder, "lds.json") }

// Envoy returns the bootstrap of an Envoy as YAML with comments. A bad Config is a
// FieldError. The token itself is not in it, and it may be read by anybody.
func Envoy(c Config) ([]byte, error) {
	k := envoy
	switch {
	case c.Folder != "":
		return c.write(files, "files.yaml.tmpl")
	case c.GoogleGRPC:
		k = google
	}
	return c.write(k, "envoy.yaml.tmpl")
}

// Relay is Envoy for one that stands before gRPC clients on the same machine: they speak
// plaintext to it at Config.RelayAddress, and it adds TLS and the token. It asks for no
// configuration of its own.
func Relay(c Config) ([]byte, error) { return c.write(relay, "relay.yaml.tmpl") }

func (c Config) write(k kind, name string) ([]byte, error) {
	v, err := c.view(k)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, v); err != nil {
		return nil, fmt.Errorf("write the bootstrap: %w", err)
	}
	return out.Bytes(), nil
}

// view checks c and reads its addresses.
func (c Config) view(k kind) (view, error) {
	if err := c.checkForeign(k); err != nil {
		return view{}, err
	}
	named := c.ServerName != ""
	c = c.withDefaults()
	if err := c.check(k); err != nil {
		return view{}, err
	}
	v := view{Config: c, Cluster: xdsCluster, IsRelay: k == relay}
	var err error
	if v.Addresses, err = parseAddresses("XDSAddresses", c.XDSAddresses); err != nil {
		return view{}, err
	}
	if v.Admin, err = parseAdmin(c.AdminAddress); err != nil {
		return view{}, err
	}
	if v.Relay, err = parseAddress(c.RelayAddress, 0); err != nil {
		return view{}, invalid("RelayAddress", err.Error())
	}
	if v.MetadataText, err = metadata(withGeneration(c.Metadata)); err != nil {
		return view{}, err
	}
	if len(c.FailoverAddresses) > 0 {
		v.Failover, err = v.failover(named)
	}
	return v, err
}

// failover is v with the other servers. Where no ServerName is given theirs is the host of the first of them.
func (v view) failover(named bool) (*view, error) {
	var err error
	if v.Addresses, err = parseAddresses("FailoverAddresses", v.FailoverAddresses); err != nil {
		return nil, err
	}
	v.Cluster = failoverCluster
	if !v.Plaintext && !named {
		v.ServerName = v.Addresses[0].Host
	}
	return &v, nil
}

// TokenSDSPath is where Envoy(c) and Relay(c) expect what TokenSDS returns; "" without a
// TokenFile.
func (c Config) TokenSDSPath() string { return c.withDefaults().TokenSDSFile }

// TokenSDS returns the file that Config.TokenSDSFile names: it tells Envoy to read the
// token from tokenFile. Both must exist when Envoy starts, and change by rename only.
func TokenSDS(tokenFile string) ([]byte, error) {
	if tokenFile == "" || !printable(tokenFile) {
		return nil, invalid("TokenFile", "must be a path without control characters")
	}
	return []byte(`# Envoy reads the fleet's token through this file. Replace the token by a rename.
resources:
- "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
  name: fairlead_token
  generic_secret:
    secret: { filename: ` + quote(tokenFile) + " }\n"), nil
}

// quote writes a YAML scalar: a JSON string is one, whatever it holds. Without control
// characters (check) it has no character that YAML would read differently.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// seconds writes a duration as protobuf's JSON does: "1.5s".
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

func isIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

func (a address) String() string { return net.JoinHostPort(a.Host, strconv.Itoa(a.Port)) }
