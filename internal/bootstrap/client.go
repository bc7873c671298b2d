package bootstrap

import (
	"fmt"
	"path"
)

// Client is what starts with the file.
type Client string

// The clients.
const (
	ClientEnvoy      Client = "envoy"
	ClientGoogleGRPC Client = "google-grpc" // an Envoy with its second gRPC client
	ClientGRPC       Client = "grpc"
	ClientRelay      Client = "relay"
)

// readsTokenThroughFile: a token file is read through another file, which TokenSDS writes.
func (k Client) readsTokenThroughFile() bool { return k == ClientEnvoy || k == ClientRelay }

// File is one that a client starts with. Path is empty for that which it is started with, and the
// others' is where that one expects it.
type File struct {
	Name, Path string
	Text       []byte
}

// Files are all that the client starts with, and what is to be known beside. Without a place for the token
// it is in the variable DefaultTokenEnv, where the client can have it there. The token itself is in none.
func Files(k Client, c Config) (files []File, notes []string, err error) {
	c = c.For(k)
	text, err := Write(k, c)
	if err != nil {
		return nil, nil, err
	}
	files = []File{{Name: map[Client]string{ClientEnvoy: "envoy.yaml", ClientGoogleGRPC: "envoy.yaml", ClientGRPC: "grpc.json", ClientRelay: "relay.yaml"}[k], Text: text}}
	switch {
	case c.TokenEnv != "":
		notes = append(notes, fmt.Sprintf("The node token is not in the file: start the client with it in the variable %s.", c.TokenEnv))
	case c.TokenFile != "":
		notes = append(notes, fmt.Sprintf("The node token is not in the file: write it into %s on the client's machine, readable by the client alone.", c.TokenFile))
	}
	switch {
	case c.TokenFile == "":
	case k.readsTokenThroughFile():
		sds, err := TokenSDS(c.TokenFile)
		if err != nil {
			return nil, nil, err
		}
		at := c.TokenSDSPath()
		files = append(files, File{Name: path.Base(at), Path: at, Text: sds})
		notes = append(notes, fmt.Sprintf("The client reads the token through %s: write that file too. A new token is written by a rename.", at))
	default:
		notes = append(notes, fmt.Sprintf("%s must not end in a newline.", c.TokenFile))
	}
	if note := AdminNote(c.AdminAddress); note != "" {
		notes = append(notes, note)
	}
	if note := ServersNote(k, c); note != "" {
		notes = append(notes, note)
	}
	if k == ClientGRPC {
		notes = append(notes, "Start the client with the file's path in GRPC_XDS_BOOTSTRAP.")
		if c.TokenFile != "" {
			notes = append(notes, fmt.Sprintf("Start the client with %s=true, or it sends no token and does not say so.", CallCredsVariable))
		}
	}
	return files, notes, nil
}

// AdminNote is what is to be known of an admin interface that is no Unix socket; "" if there is nothing.
func AdminNote(address string) string {
	if address == "" || path.IsAbs(address) {
		return ""
	}
	return "Whoever can connect to " + address + " reads the proxy's configuration and ends it, and so does what is routed there. A Unix socket is Envoy's user's alone."
}

// ServersNote is what is to be known of several servers; "" if there is nothing.
func ServersNote(k Client, c Config) string {
	switch {
	case k == ClientGRPC && len(c.XDSAddresses) > 1:
		return "A gRPC client goes to the next server only while it lacks something and those before do not answer. One that has all it asked for waits for its own server. " +
			"To have it move, give one name that has the addresses of all servers."
	case len(c.FailoverAddresses) > 0:
		return "An Envoy goes to the failover only until one of the other servers has answered it for the first time. Later it waits for those."
	}
	return ""
}

// For has what the client is, and where its token is if nothing says so.
func (c Config) For(k Client) Config {
	c.GoogleGRPC = k == ClientGoogleGRPC
	if c.TokenFile == "" && c.TokenEnv == "" && c.Folder == "" && k.readsTokenThroughFile() {
		c.TokenEnv = DefaultTokenEnv
	}
	return c
}

// Write returns the file that the client is started with.
func Write(k Client, c Config) ([]byte, error) {
	switch k {
	case ClientGRPC:
		return GRPC(c)
	case ClientRelay:
		return Relay(c)
	default:
		return Envoy(c)
	}
}
