package envoyconfig

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// response reads a DiscoveryResponse: what an Envoy reads from a file, and what it is answered.
func (r *reader) response(root placed) {
	for _, key := range slices.Sorted(maps.Keys(root.object)) {
		if key != "resources" && !resource.DiscoveryField(key) {
			r.tell(key, root.at.member(key), "a DiscoveryResponse has no such field", false)
		}
	}
	objects := root.elements("resources")
	if n := len(list(root.object, "resources")) - len(objects); n > 0 {
		r.leave("resources", fmt.Sprintf("%d of them are no objects", n))
	}
	for _, o := range objects {
		r.answered(o)
	}
}

// answered takes one resource of a DiscoveryResponse, which may stand in a discovery.v3.Resource.
func (r *reader) answered(o placed) {
	what := strings.TrimPrefix(o.at.String(), "/")
	if inner := o.child("resource"); inner.object != nil && strings.HasSuffix(text(o.object, "@type"), "/envoy.service.discovery.v3.Resource") {
		if has(o.object, "ttl") {
			r.tell(what, o.at.member("ttl"), `the document has it not: write ttl beside its body, or take the file as it is by "fairlead apply"`, false)
		}
		o = inner
	}
	url := text(o.object, "@type")
	if url == "" && has(o.object, "body") {
		r.tell(what, o.at, `this is a document of Fairlead: "fairlead apply" takes it as it is`, false)
		return
	}
	if url == "" {
		r.tell(what, o.at, `"@type" is missing: it names the message, such as `+fleet.Cluster.URL(), false)
		return
	}
	for _, t := range fleet.Types() {
		if !resource.IsOf(t, url) {
			continue
		}
		switch t {
		case fleet.Listener:
			r.listener(o)
		case fleet.Cluster:
			r.cluster(o)
		case fleet.Endpoint:
			r.named(t, "cluster_name")(o)
		default:
			r.named(t, "name")(o)
		}
		return
	}
	r.tell(what, o.at.member("@type"), "this is not one of the messages of v3 that xDS serves by name: write one such as "+fleet.Cluster.URL(), false)
}

// spelledOnce refuses a field that the outermost objects have in both spellings: one of them would be lost.
func spelledOnce(root object) error {
	top := placed{object: root}
	for _, o := range []placed{top, top.child("static_resources"), top.child("dynamic_resources")} {
		for _, key := range slices.Sorted(maps.Keys(o.object)) {
			if other := resource.SnakeCase(key); other != key && o.object[other] != nil && o.object[key] != nil {
				return resource.SameField(o.at.member(key).String(), other)
			}
		}
	}
	return nil
}
