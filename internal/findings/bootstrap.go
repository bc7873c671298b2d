package findings

import (
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// lent reports whether a cluster of the bootstrap may carry the proxies' credentials.
func (c *checker) lent(cluster string) bool { return resource.IsOwn(cluster) || c.lends[cluster] }

// lendsIdentity: the write of such a mention asks for a right; who had it may not have known, and it may be older than the rule.
// A source of configuration is what such a cluster is for.
func (c *checker) lendsIdentity(v *variant, m *resource.Mention) {
	if strings.Contains(m.Pointer, "/api_config_source/") {
		return
	}
	c.add(v, Finding{Code: NamesBootstrap, Severity: Warning, Pointer: m.Pointer, To: m.Ref, Detail: fmt.Sprintf(
		"%s names %s%s, a cluster of the proxies' own bootstrap that may carry their credential: what is sent there speaks as the proxy; name a cluster of the fleet",
		v.named(), called(m.Ref), again(m.More))})
}

// envoyAgent is the user agent of an Envoy, and of no gRPC client.
const envoyAgent = "envoy"

// mostNamed is how many nodes a finding calls by name.
const mostNamed = 10

// oldBootstraps finds nodes whose bootstrap is not known to keep the credential from what is routed.
func (c *checker) oldBootstraps() {
	var names []string
	count := 0
	for _, n := range c.Nodes {
		if c.Unlabeled[n.ID] || !RunsOldBootstrap(n) {
			continue
		}
		if count++; count <= mostNamed {
			names = append(names, n.ID)
		}
	}
	if count == 0 {
		return
	}
	who := strings.Join(names, ", ")
	if count > mostNamed {
		who += fmt.Sprintf(" and %d more", count-mostNamed)
	}
	c.found = append(c.found, Finding{
		Code: OldBootstrap, Severity: Warning, Nodes: count, Ref: fleet.Ref{Type: fleet.Cluster, Name: BootstrapCluster}, Detail: fmt.Sprintf(
			"the bootstrap of %s does not say that it was made by this version of fairlead bootstrap: if its cluster adds the node's credential to all that goes through it, a route to that cluster "+
				"speaks as the node; write it again with fairlead bootstrap, or, of one that was written by hand and does not do so, set fairlead.bootstrap in its node.metadata", who),
	})
}

// RunsOldBootstrap reports whether a node whose labels are known is an Envoy with such a bootstrap.
func RunsOldBootstrap(n fleet.Node) bool { return n.UserAgent == envoyAgent && !marked(n.MetadataJSON) }

// marked reports whether a node's metadata tell of its bootstrap, as those that Fairlead makes do and as who writes
// one may do.
func marked(metadata []byte) bool {
	var m struct {
		Fairlead struct {
			Bootstrap json.RawMessage `json:"bootstrap"`
		} `json:"fairlead"`
	}
	return len(metadata) > 0 && json.Unmarshal(metadata, &m) == nil && len(m.Fairlead.Bootstrap) > 0
}
