package bootstrap_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"fairlead/internal/bootstrap"
	"fairlead/internal/fleet"
)

func TestOddTextsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	v := variants()["plaintext-open.yaml"]
	for kind, write := range writers() {
		text, err := write(v.config)
		if err != nil {
			t.Fatal(err)
		}
		if n := readNode(t, text); n.ID != v.config.NodeID || n.Cluster != v.config.NodeCluster || n.Locality == nil {
			t.Errorf("%s: read back %+v", kind, n)
		}
	}
}

// writers write the file of every kind for a server in plaintext. A relay alone needs a
// token.
func writers() map[string]func(bootstrap.Config) ([]byte, error) {
	return map[string]func(bootstrap.Config) ([]byte, error){
		"envoy": bootstrap.Envoy,
		"grpc":  bootstrap.GRPC,
		"relay": func(c bootstrap.Config) ([]byte, error) {
			c.TokenEnv = "TOKEN"
			return bootstrap.Relay(c)
		},
	}
}

type node struct {
	ID, Cluster string
	Locality    map[string]string
	Metadata    map[string]any
}

func readNode(t *testing.T, text []byte) node {
	t.Helper()
	var got struct{ Node node }
	if err := yaml.Unmarshal(text, &got); err != nil { // JSON is YAML
		t.Fatalf("%v\n%s", err, text)
	}
	return got.Node
}

type change func(*bootstrap.Config)

func TestBadConfigNamesTheField(t *testing.T) {
	t.Parallel()
	tokenFile := func(c *bootstrap.Config) { c.TokenEnv, c.TokenFile = "", "/token" }
	google := func(c *bootstrap.Config) { tokenFile(c); c.GoogleGRPC = true }
	plain := func(c *bootstrap.Config) { c.TokenEnv, c.Plaintext = "", true }
	failover := func(c *bootstrap.Config) { c.FailoverAddresses = []string{"b:1"} }
	two := func(c *bootstrap.Config) { c.XDSAddresses = []string{"a:1", "b:1"} }
	e, r, g := bootstrap.Envoy, bootstrap.Relay, bootstrap.GRPC
	for name, c := range map[string]struct {
		write   func(bootstrap.Config) ([]byte, error)
		field   string
		changes []change
	}{
		"no node":          {e, "NodeID", []change{func(c *bootstrap.Config) { c.NodeID = "" }}},
		"newline":          {e, "NodeID", []change{func(c *bootstrap.Config) { c.NodeID = "a\nb" }}},
		"delete character": {e, "NodeCluster", []change{func(c *bootstrap.Config) { c.NodeCluster = "a\x7f" }}},
		"not UTF-8":        {e, "Zone", []change{func(c *bootstrap.Config) { c.Zone = "\xff" }}},
		"no address":       {e, "XDSAddresses", []change{func(c *bootstrap.Config) { c.XDSAddresses = nil }}},
		"no port":          {e, "XDSAddresses", []change{func(c *bootstrap.Config) { c.XDSAddresses = []string{"xds.example.com"} }}},
		"port 0":           {e, "XDSAddresses", []change{func(c *bootstrap.Config) { c.XDSAddresses = []string{"a:1", "b:0"} }}},
		"admin":            {e, "AdminAddress", []change{func(c *bootstrap.Config) { c.AdminAddress = ":9901" }}},
		"a relative admin": {e, "AdminAddress", []change{func(c *bootstrap.Config) { c.AdminAddress = "admin.sock" }}},
		"a long admin":     {e, "AdminAddress", []change{func(c *bootstrap.Config) { c.AdminAddress = "/" + strings.Repeat("s", 107) }}},
		"our metadata":     {e, "Metadata", []change{func(c *bootstrap.Config) { c.Metadata = map[string]any{"fairlead": 1} }}},
		"no token":         {e, "TokenFile", []change{func(c *bootstrap.Config) { c.TokenEnv = "" }}},
		"two tokens":       {e, "TokenEnv", []change{func(c *bootstrap.Config) { c.TokenFile = "/token" }}},
		"relative token":   {e, "TokenFile", []change{func(c *bootstrap.Config) { c.TokenEnv, c.TokenFile = "", "token" }}},
		"variable":         {e, "TokenEnv", []change{func(c *bootstrap.Config) { c.TokenEnv = "A-B" }}},
		"CA in plaintext":  {e, "CAFile", []change{func(c *bootstrap.Config) { c.Plaintext, c.CAFile = true, "/ca" }}},
		"retry":            {e, "RetryBase", []change{func(c *bootstrap.Config) { c.RetryBase, c.RetryMax = time.Minute, time.Second }}},
		"timeout":          {e, "InitialFetchTimeout", []change{func(c *bootstrap.Config) { c.InitialFetchTimeout = -1 }}},
		"metadata":         {e, "Metadata", []change{func(c *bootstrap.Config) { c.Metadata = map[string]any{"f": func() {}} }}},
		"a relay's field":  {e, "RelayAddress", []change{func(c *bootstrap.Config) { c.RelayAddress = "127.0.0.1:1" }}},

		"google_grpc in plaintext":        {e, "Plaintext", []change{google, func(c *bootstrap.Config) { c.Plaintext = true }}},
		"google_grpc with a variable":     {e, "TokenEnv", []change{func(c *bootstrap.Config) { c.GoogleGRPC = true }}},
		"google_grpc without a token":     {e, "TokenFile", []change{google, func(c *bootstrap.Config) { c.TokenFile = "" }}},
		"google_grpc with two servers":    {e, "XDSAddresses", []change{google, two}},
		"google_grpc with its own pauses": {e, "RetryMax", []change{google, func(c *bootstrap.Config) { c.RetryMax = time.Second }}},

		"a failover's port":           {e, "FailoverAddresses", []change{func(c *bootstrap.Config) { c.FailoverAddresses = []string{"b"} }}},
		"a failover of polls":         {e, "FailoverAddresses", []change{failover, func(c *bootstrap.Config) { c.REST = true }}},
		"google_grpc with a failover": {e, "FailoverAddresses", []change{google, failover}},
		"relay with a failover":       {r, "FailoverAddresses", []change{failover}},

		"relay for all":            {r, "RelayAddress", []change{func(c *bootstrap.Config) { c.RelayAddress = "0.0.0.0:18002" }}},
		"relay by name":            {r, "RelayAddress", []change{func(c *bootstrap.Config) { c.RelayAddress = "localhost:18002" }}},
		"relay without a port":     {r, "RelayAddress", []change{func(c *bootstrap.Config) { c.RelayAddress = "127.0.0.1" }}},
		"relay without a token":    {r, "TokenFile", []change{plain}},
		"relay that waits for CDS": {r, "InitialFetchTimeout", []change{func(c *bootstrap.Config) { c.InitialFetchTimeout = 1 }}},

		"grpc with a variable":        {g, "TokenEnv", nil},
		"grpc without a token":        {g, "TokenFile", []change{func(c *bootstrap.Config) { c.TokenEnv = "" }}},
		"grpc, token in the clear":    {g, "TokenFile", []change{plain, func(c *bootstrap.Config) { c.TokenFile = "/token" }}},
		"grpc with one server twice":  {g, "XDSAddresses", []change{plain, func(c *bootstrap.Config) { c.XDSAddresses = []string{"a:1", "b:1", "a:1"} }}},
		"grpc with a failover":        {g, "FailoverAddresses", []change{plain, failover}},
		"grpc with another name":      {g, "ServerName", []change{tokenFile, func(c *bootstrap.Config) { c.ServerName = "a" }}},
		"grpc with an admin page":     {g, "AdminAddress", []change{plain, func(c *bootstrap.Config) { c.AdminAddress = "127.0.0.1:1" }}},
		"grpc with a relative token":  {g, "TokenFile", []change{tokenFile, func(c *bootstrap.Config) { c.TokenFile = "token" }}},
		"grpc with an Envoy's client": {g, "GoogleGRPC", []change{google}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := bootstrap.Config{NodeID: "n", XDSAddresses: []string{"xds.example.com:443"}, TokenEnv: "TOKEN"}
			for _, change := range c.changes {
				change(&config)
			}
			_, err := c.write(config)
			var wrong *bootstrap.FieldError
			if !errors.Is(err, fleet.ErrInvalid) || !errors.As(err, &wrong) || wrong.Field != c.field {
				t.Errorf("err = %v, want one that names %s", err, c.field)
			}
		})
	}
	if _, err := bootstrap.TokenSDS("a\nb"); !errors.Is(err, fleet.ErrInvalid) {
		t.Errorf("TokenSDS: %v", err)
	}
}

// A gRPC client looks for one entry of credentials, and grpc-js for a locality: without
// one all its calls die with a TypeError.
func TestGRPCBootstrapSaysOneThing(t *testing.T) {
	t.Parallel()
	for name, servers := range map[string]int{"grpc-plaintext.json": 1, "grpc-token.json": 1, "grpc-two-servers.json": 2} {
		v := variants()[name]
		text, err := v.write(v.config)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Servers []struct {
				Channel []struct{ Type string } `json:"channel_creds"`
				Call    []struct{ Type string } `json:"call_creds"`
			} `json:"xds_servers"`
			Node map[string]json.RawMessage
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Servers) != servers || got.Node["locality"] == nil {
			t.Errorf("%s: %s", name, text)
		}
		for _, s := range got.Servers {
			if len(s.Channel) != 1 || (len(s.Call) == 1) != (v.config.TokenFile != "") {
				t.Errorf("%s: credentials %v and %v", name, s.Channel, s.Call)
			}
		}
	}
}

// Whatever a node is called, it is refused or the client reads the same name.
func FuzzNodeID(f *testing.F) {
	for _, s := range []string{"n", "a\"b", "\u2028", "#", "${x}", "{{.NodeID}}", "\x00", "null", "🛥"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		for kind, write := range writers() {
			text, err := write(bootstrap.Config{
				NodeID: id, XDSAddresses: []string{"a:1"}, Plaintext: true, Metadata: map[string]any{id: id},
			})
			if err != nil {
				if !errors.Is(err, fleet.ErrInvalid) {
					t.Fatal(err)
				}
				continue
			}
			if got := readNode(t, text); got.ID != id || got.Metadata[id] != id {
				t.Fatalf("%s: wrote %q, read %+v", kind, id, got)
			}
		}
	})
}

// TestT46_TheFailoverIsAsTheFirst: what keeps the token from all but Envoy's own discovery stands in the second cluster as in the first,
// which TestT46_RoutedRequestsCarryNoIdentity attacks.
func TestT46_TheFailoverIsAsTheFirst(t *testing.T) {
	t.Parallel()
	for _, plaintext := range []bool{false, true} {
		v := variants()["failover.yaml"]
		v.config.XDSAddresses, v.config.FailoverAddresses, v.config.Plaintext = []string{"first:1"}, []string{"second:1"}, plaintext
		text, err := v.write(v.config)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Static struct {
				Clusters []map[string]any `json:"clusters"`
			} `json:"static_resources"`
		}
		if err := yaml.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Static.Clusters) != 2 {
			t.Fatalf("%d clusters in\n%s", len(got.Static.Clusters), text)
		}
		first, second := fmt.Sprint(got.Static.Clusters[0]), fmt.Sprint(got.Static.Clusters[1])
		if !strings.Contains(first, "fairlead.token") {
			t.Errorf("the first cluster adds no token: %s", first)
		}
		if want := strings.NewReplacer("fairlead_xds", "fairlead_xds_failover", "first", "second").Replace(first); second != want {
			t.Errorf("the second cluster is\n%s\nwant\n%s", second, want)
		}
	}
}

// TestT46_NoBootstrapHasASecretToName: a static Secret can be named by whatever configuration Envoy takes, so that a
// cluster of somebody else's would be sent the token. And no admin interface is there that nobody asked for.
func TestT46_NoBootstrapHasASecretToName(t *testing.T) {
	t.Parallel()
	for name, v := range variants() {
		text, err := v.write(v.config)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Static struct {
				Secrets []any `json:"secrets"`
			} `json:"static_resources"`
			Admin any `json:"admin"`
		}
		if err := yaml.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Static.Secrets) > 0 {
			t.Errorf("%s has Secrets that may be named: %v", name, got.Static.Secrets)
		}
		if (got.Admin != nil) != (v.config.AdminAddress != "") {
			t.Errorf("%s, with the admin interface at %q, has %v", name, v.config.AdminAddress, got.Admin)
		}
	}
}
