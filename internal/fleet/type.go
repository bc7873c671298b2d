package fleet

// Type is one of the closed set of xDS resource types that Fairlead serves.
type Type uint8

// The types, in the order in which a client's view of them is built up
// (PROTOCOL rule 19): clusters with their endpoints and secrets, listeners,
// routes, virtual hosts, then the rest.
const (
	Cluster Type = iota
	Endpoint
	Secret
	Listener
	Route
	ScopedRoute
	VirtualHost
	Runtime
	Extension

	NumTypes = 9
)

// typeInfo is what is known of a type by name.
type typeInfo struct {
	slug    string // in the API's paths
	message string // the protobuf message
	short   string // what Envoy's own documents call its service
}

var typeInfos = [NumTypes]typeInfo{
	Cluster:     {"clusters", "envoy.config.cluster.v3.Cluster", "CDS"},
	Endpoint:    {"endpoints", "envoy.config.endpoint.v3.ClusterLoadAssignment", "EDS"},
	Secret:      {"secrets", "envoy.extensions.transport_sockets.tls.v3.Secret", "SDS"},
	Listener:    {"listeners", "envoy.config.listener.v3.Listener", "LDS"},
	Route:       {"routes", "envoy.config.route.v3.RouteConfiguration", "RDS"},
	ScopedRoute: {"scoped-routes", "envoy.config.route.v3.ScopedRouteConfiguration", "SRDS"},
	VirtualHost: {"virtual-hosts", "envoy.config.route.v3.VirtualHost", "VHDS"},
	Runtime:     {"runtimes", "envoy.service.runtime.v3.Runtime", "RTDS"},
	Extension:   {"extensions", "envoy.config.core.v3.TypedExtensionConfig", "ECDS"},
}

// URLPrefix stands before a message's name in every type URL.
const URLPrefix = "type.googleapis.com/"

var typeByURL, typeBySlug = indexTypes()

func indexTypes() (byURL, bySlug map[string]Type) {
	byURL, bySlug = make(map[string]Type, NumTypes), make(map[string]Type, NumTypes)
	for t, i := range typeInfos {
		byURL[URLPrefix+i.message] = Type(t)
		bySlug[i.slug] = Type(t)
	}
	return byURL, bySlug
}

// Types returns every type, in order.
func Types() []Type {
	ts := make([]Type, NumTypes)
	for i := range ts {
		ts[i] = Type(i)
	}
	return ts
}

// TypeFromURL finds the type of a type URL.
func TypeFromURL(url string) (Type, bool) { t, ok := typeByURL[url]; return t, ok }

// TypeFromSlug finds the type that the API's paths call slug.
func TypeFromSlug(slug string) (Type, bool) { t, ok := typeBySlug[slug]; return t, ok }

// URL returns the type URL, "type.googleapis.com/envoy...".
func (t Type) URL() string { return URLPrefix + typeInfos[t].message }

// Slug returns the name that the API's paths use, such as "clusters".
func (t Type) Slug() string { return typeInfos[t].slug }

// Message returns the full name of the protobuf message.
func (t Type) Message() string { return typeInfos[t].message }

// Service returns what Envoy's documents call the type's service, such as "CDS".
func (t Type) Service() string { return typeInfos[t].short }

func (t Type) String() string { return typeInfos[t].slug }

// FullSet reports whether a state-of-the-world response of this type always holds
// all that the client is subscribed to: what it leaves out, the client removes.
// "for Listener and Cluster resource types, there is also a "wildcard" subscription";
// the document demands the full set for these two, Envoy drops scopes as well
// (PROTOCOL rule 10).
func (t Type) FullSet() bool { return t == Listener || t == Cluster || t == ScopedRoute }

// Expires reports whether clients let a resource of this type expire when its TTL has
// run out. Of a route, of endpoints and of a secret Envoy forgets the version and goes
// on using them (PROTOCOL rule 20).
func (t Type) Expires() bool { return t != Route && t != Endpoint && t != Secret }

// LegacyWildcard reports whether an empty list of names on a type's first request
// means "everything" (PROTOCOL rule 1). VirtualHost has it in delta alone.
func (t Type) LegacyWildcard(delta bool) bool { return t.FullSet() || delta && t == VirtualHost }
