package envoyconfig

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// dump reads the answer of /config_dump.
func (r *reader) dump(root placed) {
	byKind := map[string][]placed{}
	for _, c := range root.elements("configs") {
		kind := text(c.object, "@type")
		kind = strings.TrimSuffix(kind[strings.LastIndexByte(kind, '.')+1:], "ConfigDump")
		byKind[kind] = append(byKind[kind], c)
	}
	covered := map[string]bool{"listeners": byKind["Listeners"] != nil, "clusters": byKind["Clusters"] != nil, "secrets": byKind["Secrets"] != nil}
	for _, c := range byKind["Bootstrap"] {
		r.bootstrap(c.child("bootstrap"), covered)
	}
	for _, c := range byKind["Listeners"] {
		r.listeners(c)
	}
	for _, c := range byKind["Clusters"] {
		r.entries(c, "cluster", r.cluster, "static_clusters", "dynamic_active_clusters", "dynamic_warming_clusters")
	}
	for _, c := range byKind["Secrets"] {
		r.entries(c, "secret", r.secret, "static_secrets", "dynamic_active_secrets", "dynamic_warming_secrets")
	}
	for _, c := range byKind["Routes"] { // the static ones stand in their listeners
		r.entries(c, "route_config", r.named(fleet.Route, "name"), "dynamic_route_configs")
	}
	for _, c := range byKind["ScopedRoutes"] {
		for _, e := range c.elements("dynamic_scoped_route_configs") {
			for _, o := range e.elements("scoped_route_configs") {
				r.add(fleet.ScopedRoute, text(o.object, "name"), o)
			}
		}
	}
	looked := r.lookedUp()
	for _, c := range byKind["Endpoints"] { // the static ones stand in their clusters
		r.entries(c, "endpoint_config", func(found placed) {
			if !looked[text(found.object, "cluster_name")] {
				r.endpointConfig(found)
			}
		}, "dynamic_endpoint_configs")
	}
	for _, c := range byKind["Ecds"] {
		r.entries(c, "ecds_filter", r.named(fleet.Extension, "name"), "ecds_filters")
	}
	for kind := range byKind {
		switch kind {
		case "Bootstrap", "Listeners", "Clusters", "Secrets", "Routes", "ScopedRoutes", "Endpoints", "Ecds":
		default:
			r.leave(kind+"ConfigDump", "this part of a dump is not known")
		}
	}
}

// entries adds the resource that stands in a field of each entry of the lists.
func (r *reader) entries(c placed, field string, add func(placed), lists ...string) {
	for _, name := range lists {
		for _, e := range c.elements(name) {
			if o := e.child(field); o.object != nil {
				add(o)
			}
		}
	}
}

func (r *reader) named(t fleet.Type, field string) func(placed) {
	return func(o placed) { r.add(t, text(o.object, field), o) }
}

// lookedUp are the names under which a dump shows endpoints that were not fetched: those that stand in a cluster, or that the proxy has
// found by DNS. It calls those of a cluster that came over xDS dynamic too.
func (r *reader) lookedUp() map[string]bool {
	looked, fetched := map[string]bool{}, map[string]bool{}
	find := func(ref fleet.Ref, body object) {
		switch kind := text(body, "type"); {
		case ref.Type != fleet.Cluster:
		case kind == "EDS" || has(body, "eds_cluster_config"):
			fetched[cmp.Or(text(child(body, "eds_cluster_config"), "service_name"), ref.Name)] = true
		default:
			looked[ref.Name] = true
		}
	}
	for ref, body := range r.taken {
		find(ref, body)
	}
	for ref, body := range r.unread { // these say likewise what the endpoints of their names are
		find(ref, body)
	}
	for name := range fetched {
		delete(looked, name)
	}
	return looked
}

// endpointConfig takes endpoints without what the proxy found out about them.
func (r *reader) endpointConfig(found placed) {
	name, states := text(found.object, "cluster_name"), map[string]bool{}
	for _, locality := range found.elements("endpoints") {
		withoutWeight(locality.object)
		for _, e := range locality.elements("lb_endpoints") {
			withoutWeight(e.object)
			if state := text(e.object, "health_status"); state != "" && state != "HEALTHY" {
				states[state] = true
			}
			drop(e.object, "health_status")
		}
	}
	r.add(fleet.Endpoint, name, found)
	of := fleet.Endpoint.Slug() + "/" + name
	for i, state := range slices.Sorted(maps.Keys(states)) {
		if i == mostFaults || len(name) > resource.MaxName {
			break // what is told is not longer than what was sent
		}
		r.stays(of, "one of them is "+state+" to this proxy, which was not taken over")
	}
}

// withoutWeight: a proxy shows a weight of 0 where there is none, and takes none of 0.
func withoutWeight(o object) {
	if has(o, "load_balancing_weight") && fmt.Sprint(get(o, "load_balancing_weight")) == "0" {
		drop(o, "load_balancing_weight")
	}
}

// listeners reads the static ones, and of each dynamic one the newest state that the proxy
// took.
func (r *reader) listeners(c placed) {
	r.entries(c, "listener", r.listener, "static_listeners")
	for _, e := range c.elements("dynamic_listeners") {
		for _, state := range []string{"active_state", "warming_state"} {
			if o := e.child(state).child("listener"); o.object != nil {
				r.listener(o)
				break
			}
		}
		if has(e.object, "error_state") {
			r.stays(fleet.Listener.Slug()+"/"+text(e.object, "name"), "the proxy refuses its newest state; what it runs was taken")
		}
	}
}
