package bootstrap

import (
	"encoding/json"
	"fmt"
)

// CallCredsVariable must be "true" in the environment of a gRPC client whose bootstrap
// names a token file: without it the client sends no token and says nothing.
const CallCredsVariable = "GRPC_EXPERIMENTAL_XDS_BOOTSTRAP_CALL_CREDS"

// serverListener is the name under which a gRPC server asks for the listener of the
// address that it serves on.
const serverListener = "grpc/server?xds.resource.listening_address=%s"

// grpcBootstrap is the file that $GRPC_XDS_BOOTSTRAP names.
type grpcBootstrap struct {
	Servers        []grpcServer `json:"xds_servers"`
	Node           grpcNode     `json:"node"`
	ServerListener string       `json:"server_listener_resource_name_template"`
}

type grpcServer struct {
	URI string `json:"server_uri"`
	// One entry on purpose: of [tls, insecure] some clients that know no "tls" take
	// "insecure" silently.
	ChannelCreds []grpcCreds `json:"channel_creds"`
	CallCreds    []grpcCreds `json:"call_creds,omitempty"`
	Features     []string    `json:"server_features"`
}

type grpcCreds struct {
	Type   string            `json:"type"`
	Config map[string]string `json:"config,omitempty"`
}

type grpcNode struct {
	ID       string         `json:"id"`
	Cluster  string         `json:"cluster"`
	Locality grpcLocality   `json:"locality"`
	Metadata map[string]any `json:"metadata,omitempty"`
}

type grpcLocality struct {
	Region  string `json:"region,omitempty"`
	Zone    string `json:"zone,omitempty"`
	SubZone string `json:"sub_zone,omitempty"`
}

// GRPC returns the bootstrap of gRPC clients and servers as JSON: over TLS with a
// TokenFile, or in plaintext without a credential, for a Relay or a port that asks for
// none. A client with a TokenFile needs CallCredsVariable in its environment too.
func GRPC(c Config) ([]byte, error) {
	v, err := c.view(grpc)
	if err != nil {
		return nil, err
	}
	var servers []grpcServer // in the order in which they are tried
	for _, a := range v.Addresses {
		server := grpcServer{URI: a.String(), ChannelCreds: []grpcCreds{{Type: "insecure"}}, Features: []string{"xds_v3"}}
		if !v.Plaintext {
			server.ChannelCreds = []grpcCreds{{"tls", map[string]string{"ca_certificate_file": v.CAFile}}}
			server.CallCreds = []grpcCreds{{"jwt_token_file", map[string]string{"jwt_token_file": v.TokenFile}}}
		}
		servers = append(servers, server)
	}
	out, err := json.MarshalIndent(grpcBootstrap{
		Servers:        servers,
		Node:           grpcNode{v.NodeID, v.NodeCluster, grpcLocality{v.Region, v.Zone, v.SubZone}, v.Metadata},
		ServerListener: serverListener,
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the bootstrap: %w", err)
	}
	return append(out, '\n'), nil
}
