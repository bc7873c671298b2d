package resource

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"fairlead/internal/fleet"
)

// What an Envoy reads from a file, or is answered, is a DiscoveryResponse: resources with "@type", and fields that mean nothing here.

const (
	discoveryResponse = "envoy.service.discovery.v3.DiscoveryResponse"
	discoveryResource = fleet.URLPrefix + "envoy.service.discovery.v3.Resource"
)

// discoveryField is a field of a DiscoveryResponse beside its resources, nil if there is no such one.
func discoveryField(key string) protoreflect.FieldDescriptor {
	mt, err := protoregistry.GlobalTypes.FindMessageByName(discoveryResponse)
	if err != nil {
		panic(discoveryResponse + " is not linked in") // internal/envoytypes imports it
	}
	if key == "resources" {
		return nil
	}
	return fieldByKey(mt.Descriptor(), key)
}

// DiscoveryField reports whether a key stands beside the resources in a DiscoveryResponse, such as version_info and nonce.
func DiscoveryField(key string) bool { return discoveryField(key) != nil }

// passOver checks a field of a DiscoveryResponse, which means nothing here.
func (r *reader) passOver(fd protoreflect.FieldDescriptor, n *node, at *path) {
	if n.kind == kindNull {
		return
	}
	s := shape{report: r.report}
	s.field(fd, n, at)
	r.report = s.report
}

// elements are the resources of an apply. Envoy takes one without a list around it.
func elements(list *node, at *path) (items []*node, places []*path) {
	if list.kind == kindObject && list.get("@type") != nil {
		return []*node{list}, []*path{at}
	}
	for i, n := range list.items {
		items, places = append(items, n), append(places, at.item(i))
	}
	return items, places
}

// unwrap takes Envoy's message out of a discovery.v3.Resource, with the name and the ttl beside it.
func (r *reader) unwrap(n *node, at *path) (inner *node, here *path, d Document, wrapped bool) {
	url := n.get("@type")
	if url == nil || url.kind != kindString || knownURL(url.text) != discoveryResource {
		return n, at, Document{}, false
	}
	for i := range n.members {
		switch m := &n.members[i]; m.key {
		case "name":
			d.Name, _ = r.text(m.value, at.member(m.key))
		case "ttl":
			d.TTL = r.ttl(m.value, at.member(m.key))
		case "@type", "resource", "version", "aliases", "metadata":
		default:
			r.add(at.member(m.key), codeUnknownField, "this is not read here: write the message itself, with its \"@type\"")
		}
	}
	inner = n.get("resource")
	if inner == nil || inner.kind != kindObject || inner.get("@type") == nil {
		r.add(at.member("resource"), codeRequired, "Envoy's message belongs here, with its \"@type\"")
		return n, at, d, true
	}
	return inner, at.member("resource"), d, true
}
