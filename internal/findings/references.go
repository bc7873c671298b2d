package findings

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// lost are fields whose traffic is not that of the proxy's clients: what they name may
// be missing and requests are served.
var lost = map[protoreflect.FullName]string{
	"envoy.config.route.v3.RouteAction.RequestMirrorPolicy.cluster":                                             "the copies that go there are lost",
	"envoy.extensions.filters.network.thrift_proxy.v3.RouteAction.RequestMirrorPolicy.cluster":                  "the copies that go there are lost",
	"envoy.extensions.filters.network.redis_proxy.v3.RedisProxy.PrefixRoutes.Route.RequestMirrorPolicy.cluster": "the copies that go there are lost",
	"envoy.config.metrics.v3.StatsdSink.tcp_cluster_name":                                                       "the statistics that go there are lost",
	"envoy.config.trace.v3.DatadogConfig.collector_cluster":                                                     "the traces that go there are lost",
	"envoy.config.trace.v3.LightstepConfig.collector_cluster":                                                   "the traces that go there are lost",
	"envoy.config.trace.v3.ZipkinConfig.collector_cluster":                                                      "the traces that go there are lost",
	"envoy.extensions.tracers.fluentd.v3.FluentdConfig.cluster":                                                 "the traces that go there are lost",
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig.cluster":                                 "the logs that go there are lost",
}

// kept is where what is said of a deleted cluster does not hold (SEMANTICS 4.5).
const kept = ", but in nodes that keep something withheld or deleted that uses it"

// references finds what names something that is not there, or not for every node.
func (c *checker) references() {
	for _, n := range c.order {
		if !c.on() {
			return
		}
		for _, v := range n.variants {
			for i := range v.facts.Mentions {
				if !c.on() {
					return
				}
				c.mention(n, v, &v.facts.Mentions[i])
			}
		}
	}
}

func (c *checker) mention(n *name, v *variant, m *resource.Mention) {
	if m.Type == fleet.Cluster && c.lent(m.Name) {
		c.lendsIdentity(v, m)
		return
	}
	if m.Type == fleet.Cluster && c.static[m.Name] {
		return
	}
	to := c.names[m.Ref]
	if _, served := c.Endpoints[m.Name]; to == nil && served && m.Type == fleet.Endpoint {
		return
	}
	if to == nil {
		severity, effect := consequence(v.Ref, m)
		why, remedy := "which does not exist", "keep it, or let nothing name it"
		if c.Deletes[m.Ref] {
			why = "which this deletes"
			if m.Type == fleet.Cluster {
				effect += kept
			}
		} else {
			remedy = c.remedy(m.Ref)
		}
		c.add(v, Finding{Code: MissingReference, Severity: severity, Pointer: m.Pointer, To: m.Ref, Detail: fmt.Sprintf(
			"%s names %s%s, %s: %s; %s", v.named(), called(m.Ref), again(m.More), why, effect, remedy)})
		return
	}
	if l := c.lacks(to); l.nodes > 0 {
		c.missingForNodes(n, v, m, l)
	}
}

// missingForNodes: of a name that has no default variant, some nodes have none.
func (c *checker) missingForNodes(n *name, v *variant, m *resource.Mention, l *lack) {
	who := l.someNodes
	if len(n.variants) > 1 || !n.fallback() {
		if v.won == nil {
			c.wins(n, func(*variant, int, int) {})
		}
		who = someNodes{}
		v.won.shares(l.views, func(i int) { who.take(&c.views, i) })
	}
	if who.nodes == 0 {
		return
	}
	severity, effect := consequence(v.Ref, m)
	c.add(v, Finding{Code: MissingForNodes, Severity: severity, Pointer: m.Pointer, To: m.Ref, Nodes: who.nodes, Detail: fmt.Sprintf(
		"%s names %s, of which there are variants alone: %s none of them, and there %s; write a default variant, or let a selector match them too",
		v.named(), called(m.Ref), who.text(), effect)})
}

// consequence says what becomes of a resource whose mention leads nowhere.
func consequence(from fleet.Ref, m *resource.Mention) (Severity, string) {
	switch m.Type {
	case fleet.Cluster:
		if what, ok := lost[m.Field]; ok {
			return Warning, what
		}
		return Error, "what is sent there fails, requests with 503"
	case fleet.Endpoint:
		return Warning, "the cluster has no endpoints, and requests to it fail with 503"
	case fleet.Listener:
		return Warning, "unless it stands in the proxies' bootstrap, connections to it fail, requests with 503"
	case fleet.Route:
		if from.Type == fleet.ScopedRoute {
			return Error, "nodes keep the route if they have it, and requests of its scope are not routed by the others"
		}
	}
	return Error, fmt.Sprintf("nodes keep what they have of %s, or go without it, until it is there", called(from))
}

// MaxHints bounds how many names are suggested: each is looked for among all of its type.
const MaxHints = 8

func (c *checker) remedy(r fleet.Ref) string {
	hint := ""
	if c.hints < MaxHints {
		c.hints++
		if best := resource.Closest(r.Name, c.byType[r.Type]); best != "" {
			hint = fmt.Sprintf("is %s meant? Else ", called(fleet.Ref{Type: r.Type, Name: best}))
		}
	}
	if r.Type == fleet.Cluster {
		return hint + "write it, name another one, or list it in the fleet's static_clusters if it stands in the proxies' bootstrap"
	}
	return hint + "write it, or name another one"
}

func again(more int) string {
	switch more {
	case 0:
		return ""
	case 1:
		return " (here and in 1 more place)"
	}
	return fmt.Sprintf(" (here and in %d more places)", more)
}
