package findings

import (
	"fmt"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// lost is what is lost without a cluster where requests are served all the same.
var lost = map[resource.Missing]string{
	resource.MissingCopies:     "the copies that go there are lost",
	resource.MissingStatistics: "the statistics that go there are lost",
	resource.MissingTraces:     "the traces that go there are lost",
	resource.MissingLogs:       "the logs that go there are lost",
	resource.MissingEvents:     "the events that go there are lost",
	resource.MissingSampling:   "the sampler is not told there what to trace",
}

// fails is what fails without a cluster.
var fails = map[resource.Missing]string{
	resource.MissingFails:      "what is sent there fails, requests with 503",
	resource.MissingUnanswered: "what is asked there is not answered, and the filter refuses requests or lets them through, as it is configured",
	resource.MissingMember:     "the cluster does without it, and requests that no other member takes fail with 503",
	resource.MissingHealth:     "the health check that the filter answers fails",
	resource.MissingSecret:     "the secret is not fetched, and what needs it takes no connections",
	resource.MissingCode:       "the code is not fetched, and what needs it serves only as its failure policy says",
}

// polledFor is what becomes of a proxy without what it asks for on a stream, or by polls, of its own: nothing is withheld there, and the proxy is told
// at once that there is none.
var polledFor = map[fleet.Type]string{
	fleet.Route:     "proxies that have it keep it, and one that starts answers what it routes with 404",
	fleet.Secret:    "proxies that have it keep it, and in one that starts what needs it has no connections",
	fleet.Extension: "proxies that have it keep it, and one that starts refuses what goes through the filter, unless that has a default_config",
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
			if m.Type == fleet.Cluster && m.Missing == resource.MissingRefused {
				effect = fmt.Sprintf("what is sent there fails, and a proxy that starts refuses %s", called(v.Ref))
			}
			if m.Type == fleet.Cluster {
				effect += kept
			}
		} else {
			remedy = c.remedy(m)
		}
		c.add(v, Finding{Code: MissingReference, Severity: severity, Pointer: m.Pointer, To: m.Ref, Detail: fmt.Sprintf(
			"%s names %s%s, %s: %s; %s", v.named(), called(m.Ref), again(m.More), why, effect, remedy)})
		return
	}
	if m.Type == fleet.Cluster && m.Missing == resource.MissingBootstrap {
		c.notInBootstrap(v, m)
		return
	}
	if l := c.lacks(to); l.nodes > 0 {
		c.missingForNodes(n, v, m, l)
	}
}

// notInBootstrap: the fleet has the cluster, and serves it, which does not do: Envoy looks for it in its bootstrap alone.
func (c *checker) notInBootstrap(v *variant, m *resource.Mention) {
	severity, effect := consequence(v.Ref, m)
	c.add(v, Finding{Code: MissingReference, Severity: severity, Pointer: m.Pointer, To: m.Ref, Detail: fmt.Sprintf(
		"%s names %s%s, which the fleet serves, and a cluster that comes over xDS does not do here: %s; name one that stands in the proxies' bootstrap, and list it in the fleet's static_clusters",
		v.named(), called(m.Ref), again(m.More), effect)})
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
	if effect, ok := polledFor[m.Type]; ok && m.Apart {
		return Error, effect
	}
	switch m.Type {
	case fleet.Cluster:
		switch m.Missing {
		case resource.MissingRefused:
			return Error, fmt.Sprintf("Envoy refuses %s while it is not there; nodes keep what they have of it, or go without, and are offered it again when the cluster comes; those that took it before have it still, and what they send there fails", called(from))
		case resource.MissingBootstrap:
			return Error, fmt.Sprintf("Envoy refuses %s unless it stands in its bootstrap, where such a cluster has to", called(from))
		}
		if what, ok := lost[m.Missing]; ok {
			return Warning, what
		}
		return Error, fails[m.Missing]
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

func (c *checker) remedy(m *resource.Mention) string {
	hint, r := "", m.Ref
	if c.hints < MaxHints {
		c.hints++
		if best := resource.Closest(r.Name, c.byType[r.Type]); best != "" {
			hint = fmt.Sprintf("is %s meant? Else ", called(fleet.Ref{Type: r.Type, Name: best}))
		}
	}
	switch {
	case r.Type == fleet.Cluster && m.Missing == resource.MissingBootstrap:
		return hint + "name one that stands in the proxies' bootstrap, and list it in the fleet's static_clusters"
	case r.Type == fleet.Cluster:
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
