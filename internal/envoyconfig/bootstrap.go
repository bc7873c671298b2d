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

// stays are the parts of a bootstrap that are of the proxy itself. "fairlead bootstrap"
// writes them anew.
var stays = map[string]string{
	"node":              `it is the proxy's own: "fairlead bootstrap" takes it by --node-id and the like`,
	"admin":             `it is the proxy's own: "fairlead bootstrap" takes it by --admin`,
	"dynamic_resources": `"fairlead bootstrap" writes it for Fairlead's xDS servers`,
}

// bootstrap reads a bootstrap; of what covered names a dump told better.
func (r *reader) bootstrap(b placed, covered map[string]bool) {
	each(nil, get(b.object, "dynamic_resources"), func(o placed) { r.own(o.object) })
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
		unknown, is := resource.NoField(bootstrapMessage, key)
		switch why := stays[resource.SnakeCase(key)]; {
		case key == "@type" || resource.SnakeCase(key) == "static_resources":
		case why != "":
			r.stays(key, why)
		case is:
			r.leave(key, unknown+". Envoy refuses a file with it; a key that is there for YAML's anchors needs !ignore before it")
		default:
			r.kept = append(r.kept, placed{object{key: b.object[key]}, b.at.member(key)})
		}
		r.older(bootstrapMessage, key, b.at.member(key), key)
	}
	admin := b.child("admin")
	for _, key := range slices.Sorted(maps.Keys(admin.object)) {
		r.older("envoy.config.bootstrap.v3.Admin", key, admin.at.member(key), "admin."+key)
	}
}

const bootstrapMessage = "envoy.config.bootstrap.v3.Bootstrap"

// tellKept tells of the parts that belong into the bootstrap, with the clusters that they name: such as of a sink of statistics Envoy takes these
// from its bootstrap alone.
func (r *reader) tellKept() {
	for _, o := range r.kept {
		for key, part := range o.object {
			found := map[string]bool{}
			texts(part, func(s string) {
				if _, there := r.taken[fleet.Ref{Type: fleet.Cluster, Name: s}]; there {
					found[s] = true
				}
			})
			why := `a control plane does not serve it: it belongs into the proxies' bootstrap; add it to what "fairlead bootstrap" writes`
			if names := slices.Sorted(maps.Keys(found)); len(names) > 0 {
				more := ""
				if len(names) > mostFaults {
					names, more = names[:mostFaults], fmt.Sprintf(" and %d more", len(names)-mostFaults)
				}
				why += `, with the clusters that it names, which are taken over too: ` + strings.Join(names, ", ") + more
			}
			r.leave(key, why)
		}
	}
}

// texts calls f for every text of a tree, keys too.
func texts(v any, f func(string)) {
	switch v := v.(type) {
	case object:
		for key, inner := range v {
			f(key)
			texts(inner, f)
		}
	case []any:
		for _, item := range v {
			texts(item, f)
		}
	case string:
		f(v)
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
		if o.at.isField("watched_directory") { // of a file that is told
			return
		}
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

// listener takes one. One without a name waits until all names are known.
func (r *reader) listener(o placed) {
	if !hasName(fleet.Listener, o.object) {
		r.unnamed = append(r.unnamed, o)
		return
	}
	r.add(fleet.Listener, text(o.object, "name"), o)
}

// nameListeners gives those that have no name one that no other has: Envoy takes several of one address, such as one of TCP and one of UDP.
func (r *reader) nameListeners() {
	for _, o := range r.unnamed {
		name := r.free(fleet.Listener, "listener_"+addressed(child(o.object, "address")))
		set(o.object, "name", name)
		r.stays(fleet.Listener.Slug()+"/"+name, "it had no name; this one was made of its address")
		r.add(fleet.Listener, name, o)
	}
}

// addressed is an address as a part of a name.
func addressed(address object) string {
	if path := text(child(address, "pipe"), "path"); path != "" {
		return path
	}
	socket := child(address, "socket_address")
	if socket == nil {
		return "unnamed"
	}
	port := get(socket, "port_value")
	if port == nil {
		port = cmp.Or(text(socket, "named_port"), "0")
	}
	return fmt.Sprintf("%s_%v", text(socket, "address"), port)
}

func (r *reader) cluster(o placed) {
	if r.owned[text(o.object, "name")] {
		r.ways = append(r.ways, o)
		return
	}
	r.add(fleet.Cluster, text(o.object, "name"), o)
}

// own takes down the clusters that a source of configuration asks, if this is one.
func (r *reader) own(o object) {
	for _, name := range asked(o) {
		r.owned[name] = true
	}
}

// asked are the clusters that an ApiConfigSource, or a part of one, names.
func asked(o object) (names []string) {
	if name := text(child(o, "envoy_grpc"), "cluster_name"); name != "" {
		names = append(names, name)
	}
	for _, v := range list(o, "cluster_names") {
		if name, ok := v.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// controlPlanes decides about the clusters by which configuration is fetched. Envoy takes that of a source of its own from its bootstrap
// alone. One of the old control plane is taken over where other resources name it: Fairlead's bootstrap has it not.
func (r *reader) controlPlanes() error {
	sources, named := map[string]bool{}, map[string]bool{}
	for _, body := range r.taken {
		if err := r.step(); err != nil {
			return err
		}
		sourced(body, false, func(o object) {
			for _, name := range asked(o) {
				sources[name] = !resource.IsOwn(name)
			}
		})
		texts(body, func(s string) { // one that means something else takes over one cluster too many
			if r.owned[s] && !resource.IsOwn(s) {
				named[s] = true
			}
		})
	}
	for _, o := range r.ways {
		switch name := text(o.object, "name"); {
		case sources[name]:
			r.inBootstrap(name, o.at)
		case named[name]:
			r.tell(fleet.Cluster.Slug()+"/"+name, o.at, "it was the way to the control plane, and was taken over as other resources name it", true)
			r.add(fleet.Cluster, name, o)
		default:
			r.stays(fleet.Cluster.Slug()+"/"+name, `it is the proxy's way to its control plane, which "fairlead bootstrap" writes anew`)
		}
	}
	for name := range sources {
		ref := fleet.Ref{Type: fleet.Cluster, Name: name}
		if _, there := r.taken[ref]; there && sources[name] {
			r.inBootstrap(name, r.at[ref].at)
			delete(r.taken, ref)
		}
	}
	return nil
}

// inBootstrap leaves out a cluster that a source of configuration asks: from the control plane Envoy does not take it.
func (r *reader) inBootstrap(name string, at *place) {
	r.tell(fleet.Cluster.Slug()+"/"+name, at, `a source of configuration (api_config_source) asks it, and Envoy takes such a cluster from its bootstrap alone: `+
		`add it to what "fairlead bootstrap" writes, and list it by "fairlead fleet --static-clusters"`, false)
}

func (r *reader) secret(o placed) { r.add(fleet.Secret, text(o.object, "name"), o) }

// sourced calls f for every object in an api_config_source, once, however many of these stand in each other.
func sourced(v any, within bool, f func(object)) {
	switch v := v.(type) {
	case object:
		if within {
			f(v)
		}
		for key, inner := range v {
			if nested(inner) {
				sourced(inner, within || resource.SnakeCase(key) == "api_config_source", f)
			}
		}
	case []any:
		for _, item := range v {
			sourced(item, within, f)
		}
	}
}
