package bootstrap

import (
	"encoding/json"
	"fmt"
	"net"
	"path"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"fairlead/internal/fleet"
)

// Way is how a client that starts with a bootstrap reaches its xDS server, as the file says. It is read from files that others have
// written too, so what is not there is empty.
type Way struct {
	Client     Client
	NodeID     string
	Generation string // what the node tells of its bootstrap; "": nothing
	REST       bool   // it polls
	Addresses  []string

	Plaintext  bool
	CA         string // PEM that stands in the file itself
	CAFile     string // "" and no CA: the system's
	SNI        string // what it asks for in the handshake; "": nothing, or the host
	ServerName string // the name that it wants in the certificate; "": it checks none

	TokenFile, TokenSDSFile, TokenEnv string
	Token                             string // that stands in the file itself: a secret
}

// ReadWay reads an Envoy's bootstrap, YAML or JSON, or that of a gRPC client. What it cannot read is fleet.ErrInvalid; the error holds
// nothing of the file's values.
func ReadWay(text []byte) (Way, error) {
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		return Way{}, fmt.Errorf("it is neither YAML nor JSON: %w", fleet.ErrInvalid)
	}
	var all object
	if json.Unmarshal(raw, &all) != nil || all == nil {
		return Way{}, fmt.Errorf("it is no bootstrap of an Envoy or of a gRPC client: %w", fleet.ErrInvalid)
	}
	var w Way
	if all.get("xds_servers") != nil {
		w = readGRPC(all)
	} else {
		w, err = readEnvoy(all)
	}
	if err != nil {
		return Way{}, err
	}
	node := all.object("node")
	w.NodeID = node.text("id")
	if of := node.object("metadata").object(ownMetadata).get("bootstrap"); of != nil {
		w.Generation = fmt.Sprint(of)
	}
	if len(w.Addresses) == 0 {
		return Way{}, fmt.Errorf("it names no address of an xDS server: %w", fleet.ErrInvalid)
	}
	return w, nil
}

// Old reports whether the node does not say that its bootstrap keeps its credential from what is routed, as the finding
// old_bootstrap has it. gRPC clients route nothing.
func (w Way) Old() bool {
	n, err := strconv.Atoi(w.Generation)
	return w.Client != ClientGRPC && (w.Generation == "" || err == nil && n < Generation)
}

// object is one of JSON. Envoy takes the names of fields in both spellings.
type object map[string]any

func (o object) get(name string) any {
	if v, there := o[name]; there {
		return v
	}
	parts := strings.Split(name, "_")
	for i, p := range parts[1:] {
		if p != "" {
			parts[i+1] = strings.ToUpper(p[:1]) + p[1:]
		}
	}
	return o[strings.Join(parts, "")]
}

func (o object) object(names ...string) object {
	for _, name := range names {
		next, _ := o.get(name).(map[string]any)
		o = next
	}
	return o
}

func (o object) list(name string) []any {
	l, _ := o.get(name).([]any)
	return l
}

func (o object) first(name string) object {
	if l := o.list(name); len(l) > 0 {
		m, _ := l[0].(map[string]any)
		return m
	}
	return nil
}

func (o object) text(name string) string {
	s, _ := o.get(name).(string)
	return s
}

func readGRPC(all object) Way {
	w := Way{Client: ClientGRPC}
	server := all.first("xds_servers") // the others are asked while it does not answer
	for _, s := range all.list("xds_servers") {
		if m, is := s.(map[string]any); is {
			w.Addresses = append(w.Addresses, withPort(strings.TrimPrefix(object(m).text("server_uri"), "dns:///")))
		}
	}
	creds := server.first("channel_creds")
	w.Plaintext, w.CAFile = creds.text("type") == "insecure", creds.object("config").text("ca_certificate_file")
	w.TokenFile = server.first("call_creds").object("config").text("jwt_token_file")
	if len(w.Addresses) > 0 {
		w.ServerName, _, _ = net.SplitHostPort(w.Addresses[0])
	}
	return w
}

func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err != nil && address != "" {
		return net.JoinHostPort(strings.Trim(address, "[]"), "443")
	}
	return address
}

func readEnvoy(all object) (Way, error) {
	w := Way{Client: ClientEnvoy}
	resources := all.object("dynamic_resources")
	source := resources.object("ads_config")
	if source == nil {
		source = resources.object("cds_config", "api_config_source")
	}
	if source == nil {
		source = resources.object("lds_config", "api_config_source")
	}
	name := xdsCluster // a relay has no configuration of its own
	switch {
	case source == nil && resources.object("cds_config", "path_config_source") != nil:
		return w, fmt.Errorf("its Envoy reads files and asks no server: check the node with the flags of its \"fairlead sync\": %w", fleet.ErrInvalid)
	case source == nil:
		w.Client = ClientRelay
	case source.text("api_type") == "REST":
		w.REST = true
		if names := source.list("cluster_names"); len(names) > 0 {
			name, _ = names[0].(string)
		}
	default:
		service := source.first("grpc_services")
		if google := service.object("google_grpc"); google != nil {
			return readGoogle(service, google), nil
		}
		name = service.object("envoy_grpc").text("cluster_name")
		w.Token = bearer(service)
	}
	for _, c := range all.object("static_resources").list("clusters") {
		if m, is := c.(map[string]any); is && object(m).text("name") == name {
			w.readCluster(m)
			return w, nil
		}
	}
	return w, fmt.Errorf("it has no cluster %q, which would lead to the xDS server: %w", name, fleet.ErrInvalid)
}

// bearer is a token that the file itself holds.
func bearer(service object) string {
	for _, h := range service.list("initial_metadata") {
		if m, is := h.(map[string]any); is && strings.EqualFold(object(m).text("key"), "authorization") {
			return strings.TrimPrefix(object(m).text("value"), "Bearer ")
		}
	}
	return ""
}

func readGoogle(service, google object) Way {
	w := Way{Client: ClientGoogleGRPC, Addresses: []string{withPort(strings.TrimPrefix(google.text("target_uri"), "dns:///"))}, Token: bearer(service)}
	w.ServerName, _, _ = net.SplitHostPort(w.Addresses[0])
	if args := google.object("channel_args", "args", "grpc.ssl_target_name_override"); args != nil {
		w.ServerName = args.text("string_value")
	}
	w.SNI = w.ServerName
	ssl := google.object("channel_credentials", "ssl_credentials")
	w.Plaintext, w.CAFile = ssl == nil, ssl.object("root_certs").text("filename")
	w.TokenFile = google.first("call_credentials").object("from_plugin", "typed_config", "secret_data").text("filename")
	return w
}

var environment = regexp.MustCompile(`%ENVIRONMENT\(([A-Za-z_][A-Za-z0-9_]*)\)%`)

func (w *Way) readCluster(c object) {
	for _, group := range c.object("load_assignment").list("endpoints") {
		of, _ := group.(map[string]any)
		for _, e := range object(of).list("lb_endpoints") {
			of, _ := e.(map[string]any)
			at := object(of).object("endpoint", "address", "socket_address")
			if port, is := at.get("port_value").(float64); is {
				w.Addresses = append(w.Addresses, net.JoinHostPort(at.text("address"), strconv.Itoa(int(port))))
			}
		}
	}
	socket := c.object("transport_socket", "typed_config")
	w.Plaintext = socket == nil
	w.SNI = socket.text("sni")
	check := socket.object("common_tls_context", "validation_context")
	w.CA, w.CAFile = check.object("trusted_ca").text("inline_string"), check.object("trusted_ca").text("filename")
	if w.ServerName = check.first("match_typed_subject_alt_names").object("matcher").text("exact"); w.ServerName == "" {
		w.ServerName = check.first("match_subject_alt_names").text("exact")
	}
	w.readToken(map[string]any(c))
}

// readToken looks for what adds the token to the cluster's requests, wherever it stands in its filters.
func (w *Way) readToken(v any) {
	switch v := v.(type) {
	case map[string]any:
		if p := object(v).object("credential", "sds_config", "path_config_source").text("path"); p != "" {
			w.TokenSDSFile = p
		}
		for _, of := range v {
			w.readToken(of)
		}
	case []any:
		for _, of := range v {
			w.readToken(of)
		}
	case string:
		if m := environment.FindStringSubmatch(v); m != nil {
			w.TokenEnv = m[1]
		}
	}
}

// ReadTokenSDS returns where the token is that a file like TokenSDS's leads to: a file, or the token itself.
func ReadTokenSDS(text []byte, at string) (file, token string, err error) {
	raw, err := yaml.YAMLToJSON(text)
	var all object
	if err != nil || json.Unmarshal(raw, &all) != nil {
		return "", "", fmt.Errorf("%s is neither YAML nor JSON: %w", at, fleet.ErrInvalid)
	}
	secret := all.first("resources").object("generic_secret", "secret")
	file, token = secret.text("filename"), secret.text("inline_string")
	if file == "" && token == "" {
		return "", "", fmt.Errorf("%s holds no generic secret: write it as \"fairlead bootstrap --token-file\" does: %w", at, fleet.ErrInvalid)
	}
	if file != "" && !path.IsAbs(file) {
		file = path.Join(path.Dir(at), file)
	}
	return file, token, nil
}
