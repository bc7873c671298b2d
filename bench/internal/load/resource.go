package load

import (
	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/bench/internal/xds"
)

// resource is what the client wants to know of a resource.
type resource struct {
	kind     xds.Kind
	name     []byte
	version  []byte   // delta only
	children [][]byte // names of the EDS or RDS resources that it needs
}

const resourceURL = "type.googleapis.com/envoy.service.discovery.v3.Resource"

// parseAny reads a google.protobuf.Any that holds a resource, wrapped or not.
func (r *resource) parseAny(b []byte) bool {
	url, value := get(b, 1), get(b, 2)
	if string(url) == resourceURL {
		return r.parseWrapped(value)
	}
	k, ok := xds.KindOf(url)
	if !ok {
		return false
	}
	r.kind = k
	if r.name == nil {
		r.name = get(value, 1) // true of all four kinds
	}
	switch k {
	case xds.Clusters:
		r.clusterChild(value)
	case xds.Listeners:
		add := func(name []byte) { r.children = append(r.children, name) }
		for _, path := range routeNames {
			walk(value, path, add)
		}
	}
	return true
}

// routeNames are the ways from a Listener to the names of the route tables it
// gets by RDS: through filter_chains, default_filter_chain and api_listener.
var routeNames = [][]protowire.Number{
	{3, 3, 4, 2, 3, 2},
	{25, 3, 4, 2, 3, 2},
	{19, 1, 2, 3, 2},
}

// parseWrapped reads an envoy.service.discovery.v3.Resource.
func (r *resource) parseWrapped(b []byte) bool {
	r.version, r.name = get(b, 1), get(b, 3)
	return r.parseAny(get(b, 2))
}

func (r *resource) clusterChild(b []byte) {
	const eds = 3
	var service []byte
	isEDS := false
	each(b, func(num protowire.Number, varint uint64, val []byte) {
		switch num {
		case 2: // type
			isEDS = varint == eds
		case 3: // eds_cluster_config
			service = get(val, 2)
		}
	})
	switch {
	case !isEDS:
	case len(service) > 0:
		r.children = append(r.children, service)
	default:
		r.children = append(r.children, r.name)
	}
}
