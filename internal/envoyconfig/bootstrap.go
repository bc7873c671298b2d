package envoyconfig

import (
	"fmt"
	"maps"
	"slices"

	"fairlead/internal/fleet"
)

// stays are the parts of a bootstrap that are of the proxy itself. "fairlead bootstrap"
// writes them anew.
var stays = map[string]string{
	"node":              `it is the proxy's own: "fairlead bootstrap" takes it by --node-id and the like`,
	"admin":             `it is the proxy's own: "fairlead bootstrap" takes it by --admin`,
	"dynamic_resources": `"fairlead bootstrap" writes it for Fairlead's xDS servers`,
}

// bootstrap reads a bootstrap; of what covered names a dump told better.
func (r *reader) bootstrap(b object, covered map[string]bool) {
	each("", get(b, "dynamic_resources"), func(_ string, o object) {
		if name := text(child(o, "envoy_grpc"), "cluster_name"); name != "" {
			r.own[name] = true
		}
		for _, v := range list(o, "cluster_names") {
			if name, ok := v.(string); ok {
				r.own[name] = true
			}
		}
	})
	static := child(b, "static_resources")
	for _, section := range []struct {
		field string
		add   func(object)
	}{{"listeners", r.listener}, {"clusters", r.cluster}, {"secrets", r.secret}} {
		if covered[section.field] {
			continue
		}
		items := list(static, section.field)
		for _, o := range children(static, section.field) {
			section.add(o)
		}
		if n := len(items) - len(children(static, section.field)); n > 0 {
			r.leave(section.field, fmt.Sprintf("%d of them are no objects", n))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(static)) {
		if !slices.Contains([]string{"listeners", "clusters", "secrets", "@type"}, key) {
			r.leave("static_resources."+key, "there is no such part of a bootstrap")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b)) {
		switch why := stays[snake(key)]; {
		case key == "@type" || snake(key) == "static_resources":
		case why != "":
			r.stays(key, why)
		default:
			r.leave(key, `a control plane does not serve it: it belongs into the proxies' bootstrap; add it to what "fairlead bootstrap" writes`)
		}
	}
}

func list(o object, field string) []any {
	v, _ := get(o, field).([]any)
	return v
}

// snake is the inverse of camel, of a field's name.
func snake(key string) string {
	var out []rune
	for _, c := range key {
		if c >= 'A' && c <= 'Z' {
			out = append(out, '_')
			c += 'a' - 'A'
		}
		out = append(out, c)
	}
	return string(out)
}

func (r *reader) listener(o object) {
	name := text(o, "name")
	if name == "" {
		address := child(child(o, "address"), "socket_address")
		name = fmt.Sprintf("listener_%s_%v", text(address, "address"), get(address, "port_value"))
		set(o, "name", name)
		r.stays(fleet.Listener.Slug()+"/"+name, "it had no name; this one was made of its address")
	}
	r.add(fleet.Listener, name, o)
}

func (r *reader) cluster(o object) {
	name := text(o, "name")
	if r.own[name] {
		r.stays(fleet.Cluster.Slug()+"/"+name, `it is the proxy's way to its control plane, which "fairlead bootstrap" writes anew`)
		return
	}
	r.add(fleet.Cluster, name, o)
}

func (r *reader) secret(o object) { r.add(fleet.Secret, text(o, "name"), o) }
