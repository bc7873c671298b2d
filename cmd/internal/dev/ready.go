package dev

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// ready is the ready file: how to reach everything. What does not run is "".
type ready struct {
	APIURL        string `json:"api_url"`
	APIToken      string `json:"api_token"`
	OperatorToken string `json:"operator_token"`
	XDSAddress    string `json:"xds_address"`
	RESTAddress   string `json:"rest_address"`
	RESTXDSURL    string `json:"rest_xds_url"`
	NodeToken     string `json:"node_token"`
	Tenant        string `json:"tenant"`
	Fleet         string `json:"fleet"`
	NodeID        string `json:"node_id"`
	ProxyURL      string `json:"proxy_url"`
	EnvoyAdmin    string `json:"envoy_admin_socket"`
	EnvoyVersion  string `json:"envoy_version"`
	EnvoyPath     string `json:"envoy_path"`
	BootstrapFile string `json:"bootstrap_file"`
	DataDir       string `json:"data_dir"`
	PostgresURL   string `json:"postgres_url"`
	StartedInMS   int64  `json:"started_in_ms"`

	MetricsURLs []string `json:"metrics_urls"`
}

func (r ready) write(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(path, append(b, '\n'), 0o600)
}

// welcome prints what runs and the commands to use it with, each a line to paste.
func (s *started) welcome(r ready, readyFile string) {
	say := s.out.say
	say("")
	say("Fairlead runs (started in %.1f s). Ctrl-C stops all of it; the data stays in", float64(r.StartedInMS)/1000)
	say("  %s", r.DataDir)
	say("")
	say("The page, and the API with its token:")
	say("  %s/", r.APIURL)
	say("  export FAIRLEAD_URL=%s FAIRLEAD_TENANT=%s FAIRLEAD_FLEET=%s", r.APIURL, r.Tenant, r.Fleet)
	say("  export FAIRLEAD_TOKEN=%s", r.APIToken)
	say("The xDS address, and a bootstrap for an Envoy:")
	say("  %s", r.XDSAddress)
	say("  %s", r.BootstrapFile)
	if r.EnvoyPath != "" {
		say("The Envoy that runs with it, version %s:", r.EnvoyVersion)
		say("  %s", r.EnvoyPath)
	}
	if r.EnvoyAdmin != "" {
		say("Its admin interface, a socket that only you may open:")
		say("  curl -s --unix-socket %s http://envoy/clusters", quote(relative(r.EnvoyAdmin)))
	}
	if r.ProxyURL == "" || s.cmd.NoDemo {
		return
	}
	say("A request through Envoy:")
	say("  curl -s %s/", r.ProxyURL)
	say("Change its route, and be told when Envoy has it (blue.yaml brings it back):")
	say("  %s apply -f %s --wait%s", program(), quote(relative(filepath.Join(s.demoDir(), "green.yaml"))), s.readyFlag(readyFile))
	say("")
}

// readyFlag is what the command line needs to find this start, if that is anything.
func (s *started) readyFlag(readyFile string) string {
	if relative(readyFile) == filepath.Join(".fairlead", "ready.json") {
		return ""
	}
	return " --ready-file " + quote(relative(readyFile))
}

// program is the path of this program as it can be typed here.
func program() string {
	exe, err := os.Executable()
	if err != nil {
		return "fairlead"
	}
	return quote(relative(exe))
}

// relative is a path below the working directory as seen from there.
func relative(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		return path
	}
	return rel
}

// quote makes one word of a path for a shell.
func quote(path string) string {
	if !strings.ContainsAny(path, " \t\n'\"\\$`*?[]#~&;|<>(){}!") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
