package bootstrap

import "maps"

// Generation is which of the bootstraps that Fairlead ever made this one is. Envoys tell it in their node's metadata,
// {"fairlead": {"bootstrap": 2}}, so that the server sees which proxies run an older one. One that tells none is of the
// first: it lends the node's token to whatever is routed to its cluster fairlead_xds.
const Generation = 2

// ownMetadata is the field of the metadata that is Fairlead's.
const ownMetadata = "fairlead"

// withGeneration is the metadata and what they tell of the bootstrap.
func withGeneration(m map[string]any) map[string]any {
	all := map[string]any{ownMetadata: map[string]any{"bootstrap": Generation}}
	maps.Copy(all, m)
	return all
}
