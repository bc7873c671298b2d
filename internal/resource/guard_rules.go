package resource

import (
	"fmt"
	slashpath "path"
	"slices"
	"strings"

	"fairlead/internal/fleet"
)

// Rule names a kind of content by which a resource does more than configure traffic: with
// it a proxy runs code, reads or writes files of its machine, or turns to somebody else.
// Which roles may write it is not decided here: Compiled.Guarded tells where it stands.
type Rule string

// The guard rules. Their names are part of the API: they may grow in number and never
// change.
const (
	RuleCode              Rule = "code"               // runs code in the proxy, or hands its traffic to some
	RuleAdmin             Rule = "admin"              // messages of the proxy's own bootstrap and admin interface
	RuleTap               Rule = "tap"                // copies out the traffic of others, or secrets
	RuleFiles             Rule = "files"              // reads or writes files of the proxy's machine
	RuleFileLogs          Rule = "file_logs"          // writes logs to a file that no prefix allows
	RuleEnvironment       Rule = "environment"        // reads the proxy's environment
	RuleConfigSources     Rule = "config_sources"     // takes configuration from another control plane
	RulePipes             Rule = "pipes"              // Unix sockets
	RuleInternalListeners Rule = "internal_listeners" // connections inside the proxy
	RuleLinkLocal         Rule = "link_local"         // link-local addresses and those of metadata services
	RuleLoopback          Rule = "loopback"           // the proxy's own machine

	RuleAdminPorts         Rule = "admin_ports"         // where Envoy's admin interface listens
	RuleMachineIdentity    Rule = "machine_identity"    // what the proxy's machine, its cloud or its bootstrap proves who it is with
	RuleKill               Rule = "kill"                // ends the process
	RuleSockets            Rule = "sockets"             // sockets below what the configuration knows
	RuleRequestDestination Rule = "request_destination" // a request, or an answer, says what is connected to
	RuleUnknown            Rule = "unknown"             // nobody has judged it
	RuleBootstrapNames     Rule = "bootstrap_names"     // names what in the proxy's bootstrap lends its identity
	RuleClusterByRequest   Rule = "cluster_by_request"  // lets a request say which cluster it goes to
)

// reasons says of each rule, as the first half of a sentence, what it is about.
var reasons = map[Rule]string{
	RuleCode:              "this runs code in the proxy, hands its traffic to a program, or is of a type whose content cannot be known",
	RuleAdmin:             "this belongs to the proxy's own bootstrap or admin interface",
	RuleTap:               "this copies out traffic, or secrets",
	RuleFiles:             "this makes the proxy read or write a file of its own machine",
	RuleFileLogs:          "this makes the proxy write a log to a file that is not below an allowed path",
	RuleEnvironment:       "this reads the environment of the proxy's process",
	RuleConfigSources:     "this takes configuration from another control plane: ads and self are this one",
	RulePipes:             "this is a Unix socket of the proxy's machine",
	RuleInternalListeners: "this is a connection to or a listener of the inside of the proxy",
	RuleLinkLocal:         "this is a link-local address, or one of a cloud's metadata service",
	RuleLoopback:          "this is an address of the proxy's own machine, where what is not meant for others listens",

	RuleAdminPorts:         "this is the port of Envoy's admin interface, which shows all that the proxy knows and ends it",
	RuleMachineIdentity:    "this uses the identity of the proxy's machine, of its cloud or of its bootstrap",
	RuleKill:               "this lets a request, or a call of the proxy's own, end its process",
	RuleSockets:            "this sets sockets of the proxy's machine below what the configuration knows",
	RuleRequestDestination: "this lets a request, or the answer of a backend, say what the proxy connects to",
	RuleUnknown:            "nobody has judged what this makes a proxy do",
	RuleBootstrapNames:     "this names what stands in the proxies' own bootstrap and may carry their credential: what is sent there would speak as the proxy",
	RuleClusterByRequest:   "this lets requests or connections name the cluster that they go to, those of the proxy's own bootstrap too",
}

// Rules returns all guard rules, in the order of their names.
func Rules() []Rule {
	out := make([]Rule, 0, len(reasons))
	for r := range reasons {
		out = append(out, r)
	}
	slices.Sort(out)
	return out
}

// Reason says what the rule is about, as the first half of a sentence.
func (r Rule) Reason() string { return reasons[r] }

// covers say what each rule names; docs/guard.md has the same words.
var covers = map[Rule]string{
	RuleCode:              "Lua, Wasm, dynamic modules, Go plugins, external processors (ext_proc), tracers and socket maps that load a library or a program, librdkafka's own settings: as filters, per-route overrides, access loggers, sinks, matchers, cluster specifiers and all else. Content whose type cannot be known: a TypedStruct of an unknown type, or without one, or that does not fit it, and a google.protobuf.Struct where an extension's configuration belongs",
	RuleAdmin:             "messages of Envoy's bootstrap, bootstrap extensions, and of its admin interface",
	RuleTap:               "tap filters and transport sockets, TLS key logs, formatters that write Secrets into logs and headers",
	RuleFiles:             "every file name but that of a log: DataSource.filename, path_config_source, watched directories, keys and tokens in files, file servers, caches and buffers on disk, databases, descriptors, network namespaces, %FILE_CONTENT(...)% by itself or named in %COALESCE(...)%",
	RuleFileLogs:          "an access log or a log of health checks outside of the allowed paths",
	RuleEnvironment:       "DataSource.environment_variable, tags, matchers and credentials from the environment, %ENVIRONMENT(...)% in any text, by itself or named in %COALESCE(...)%",
	RuleConfigSources:     "api_config_source: another control plane. ads and self are this one",
	RulePipes:             "Unix sockets, as the address of an endpoint or a listener, or as a gRPC target",
	RuleInternalListeners: "internal listeners and their addresses",
	RuleLinkLocal:         "link-local addresses and those of the clouds' metadata services, as something to connect to",
	RuleLoopback:          "the proxy's own machine, as something to connect to, but for the ports in the fleet's local_ports",

	RuleAdminPorts:         "port 9901 of any machine, as something to connect to, unless the fleet's local_ports names it",
	RuleMachineIdentity:    "Google's default and machine credentials (google_compute_engine, google_default, gcp_authn), requests signed for AWS (aws_request_signing, aws_lambda, AWS IAM of Redis), ALTS, S2A, credentials that are chosen by a factory's name, Secrets of the bootstrap (an SdsSecretConfig without sds_config) and certificates of its providers (tls_certificate_provider_instance)",
	RuleKill:               "kill_request, actions of the watchdog that end the process, and names that begin with a colon in the initial_metadata of a gRPC service",
	RuleSockets:            "socket_options, transparent listeners, the client's address as one's own (original_src, use_original_src_ip), network namespaces from the filter state",
	RuleRequestDestination: "ORIGINAL_DST clusters, dynamic forward proxies, sni_cluster, clusters and filters of reverse tunnels, Redis clusters and redirections of Redis, clusters of Kafka's mesh, filter state by which an address is chosen",
	RuleUnknown:            "what nobody has judged: messages that are not in the list of Envoy's API, channel arguments of gRPC that are texts, free forms that only some builds of a proxy read, and schemes of gRPC targets that nobody here knows",
	RuleBootstrapNames:     "clusters and Secrets of the proxies' own bootstrap that may carry their credential: every name that begins with fairlead_, and the fleet's private_clusters, in each field that names a cluster and as the name of a cluster or its endpoints",
	RuleClusterByRequest:   "cluster_header, of routes, weighted clusters and mirrors, of Thrift too; SniCluster; filter state that sets the cluster of a TCP or UDP proxy; groups of clusters from a request's metadata",
}

// Covers says what the rule names.
func (r Rule) Covers() string { return covers[r] }

// Guarded is one place where a resource has what a rule names.
type Guarded struct {
	Rule    Rule
	Pointer string // as FieldError has it
	Port    uint32 // of loopback and admin_ports: to which it leads; 0 is one that is not known
}

// maxGuarded bounds how many places are told of one rule. The bound is of each rule, so
// that many of one that the writer may do cannot hide another.
const maxGuarded = 20

// DefaultLogPaths are where a proxy may write logs: an entry that ends with a slash is a
// folder, each other one a file.
func DefaultLogPaths() []string {
	return []string{"/var/log/envoy/", "/dev/stdout", "/dev/stderr", "/dev/null"}
}

// CheckLogPaths refuses paths that would mean something else than they say. The error is
// fleet.ErrInvalid.
func CheckLogPaths(paths []string) error {
	for _, p := range paths {
		if file := strings.TrimSuffix(p, "/"); !strings.HasPrefix(p, "/") || p != "/" && slashpath.Clean(p) != file {
			return fmt.Errorf("log path %q: write an absolute path without . and .., with a slash at its end for all of a folder: %w", p, fleet.ErrInvalid)
		}
	}
	return nil
}
