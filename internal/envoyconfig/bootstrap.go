package envoyconfig

import (
	"fmt"
	"maps"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// stays are the parts of a bootstrap that are of the proxy itself. "fairlead bootstrap"
// writes them anew.
var stays = map[string]string{
	"node":              `it is the proxy's own: "fairlead bootstrap" takes it by --node-id and the like`,
	"admin":             `it is the proxy's own: "fairlead bootstrap" takes it by --admin`,
	"dynamic_resources": `"fairlead bootstrap" writes it for Fairlead's xDS servers`,
}

// bootstrap reads a bootstrap; of what covered names a dump told better.
func (r *reader) bootstrap(b placed, covered map[string]bool) {
	each(nil, get(b.object, "dynamic_resources"), func(o placed) {
		if name := text(child(o.object, "envoy_grpc"), "cluster_name"); name != "" {
			r.own[name] = true
		}
		for _, v := range list(o.object, "cluster_names") {
			if name, ok := v.(string); ok {
				r.own[name] = true
			}
		}
	})
	static := b.child("static_resources")
	for _, section := range []struct {
		field string
		add   func(placed)
	}{{"listeners", r.listener}, {"clusters", r.cluster}, {"secrets", r.secret}} {
		if covered[section.field] {
			continue
		}
		objects := static.elements(section.field)
		for _, o := range objects {
			section.add(o)
		}
		if n := len(list(static.object, section.field)) - len(objects); n > 0 {
			r.leave(section.field, fmt.Sprintf("%d of them are no objects", n))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(static.object)) {
		if !slices.Contains([]string{"listeners", "clusters", "secrets", "@type"}, key) {
			r.tell("static_resources."+key, static.at.member(key), "there is no such part of a bootstrap", false)
		}
	}
	r.parts(b)
	r.files(b)
}

// parts tells of the parts of a bootstrap that no control plane serves.
func (r *reader) parts(b placed) {
	for _, key := range slices.Sorted(maps.Keys(b.object)) {
		switch why := stays[resource.SnakeCase(key)]; {
		case key == "@type" || resource.SnakeCase(key) == "static_resources":
		case why != "":
			r.stays(key, why)
		default:
			r.leave(key, `a control plane does not serve it: it belongs into the proxies' bootstrap; add it to what "fairlead bootstrap" writes`)
		}
		r.older("envoy.config.bootstrap.v3.Bootstrap", key, b.at.member(key), key)
	}
	admin := b.child("admin")
	for _, key := range slices.Sorted(maps.Keys(admin.object)) {
		r.older("envoy.config.bootstrap.v3.Admin", key, admin.at.member(key), "admin."+key)
	}
}

// older tells of a field that is older than Envoy's API of today.
func (r *reader) older(message, key string, at *place, what string) {
	if say, ok := resource.OldField(message, key); ok {
		r.tell(what, at, say, true)
	}
}

// files tells of the files from which the proxy reads resources: they are not in the bootstrap.
func (r *reader) files(b placed) {
	dynamic := b.child("dynamic_resources")
	each(dynamic.at, dynamic.object, func(o placed) {
		for _, field := range []string{"path_config_source", "path"} {
			path := text(child(o.object, field), "path")
			if field == "path" && !o.at.isField("path_config_source") {
				path = text(o.object, field)
			}
			if path != "" {
				r.tell("dynamic_resources."+o.at.name(), o.at, "its resources are in the file "+path+": import that as well", true)
			}
		}
	})
}

func (r *reader) listener(o placed) {
	name := text(o.object, "name")
	if !hasName(fleet.Listener, o.object) {
		address := child(child(o.object, "address"), "socket_address")
		name = fmt.Sprintf("listener_%s_%v", text(address, "address"), get(address, "port_value"))
		set(o.object, "name", name)
		r.stays(fleet.Listener.Slug()+"/"+name, "it had no name; this one was made of its address")
	}
	r.add(fleet.Listener, name, o)
}

func (r *reader) cluster(o placed) {
	name := text(o.object, "name")
	if r.own[name] {
		r.stays(fleet.Cluster.Slug()+"/"+name, `it is the proxy's way to its control plane, which "fairlead bootstrap" writes anew`)
		return
	}
	r.add(fleet.Cluster, name, o)
}

func (r *reader) secret(o placed) { r.add(fleet.Secret, text(o.object, "name"), o) }
