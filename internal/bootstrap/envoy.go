package bootstrap

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"text/template"
	"time"
)

//go:embed envoy.yaml.tmpl
var envoyText string

var envoyTemplate = template.Must(template.New("envoy").Funcs(template.FuncMap{
	"quote": quote, "seconds": seconds, "dir": path.Dir, "isIP": isIP,
}).Parse(envoyText))

// view is what the template sees.
type view struct {
	Config
	Addresses    []address
	Admin        address
	MetadataText string
}

// Envoy returns the bootstrap as YAML with comments. A bad Config is ErrInvalid and the
// error names the field. The token itself is not in it, and it may be read by anybody.
func Envoy(c Config) ([]byte, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	v := view{Config: c}
	for _, s := range c.XDSAddresses {
		a, err := parseAddress(s, 1)
		if err != nil {
			return nil, invalid("XDSAddresses", err.Error())
		}
		v.Addresses = append(v.Addresses, a)
	}
	var err error
	if v.Admin, err = parseAddress(c.AdminAddress, 0); err != nil {
		return nil, invalid("AdminAddress", err.Error())
	}
	if v.MetadataText, err = metadata(c.Metadata); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := envoyTemplate.Execute(&out, v); err != nil {
		return nil, fmt.Errorf("write the bootstrap: %w", err)
	}
	return out.Bytes(), nil
}

// TokenSDSPath is where Envoy(c) expects what TokenSDS returns; "" without a TokenFile.
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
