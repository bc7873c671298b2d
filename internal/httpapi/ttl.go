package httpapi

import (
	"strconv"
	"strings"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// ttlText writes a TTL in the form in which a document takes it: seconds, "90s" and
// never "1m30s".
func ttlText(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

// ttlWord is whether a node is sent the TTLs of a type, and why. Known is false where it
// depends on what the client declared when it connected: that is not kept.
type ttlWord struct {
	known, sent bool
	why         string
}

// ttlFor follows PROTOCOL rule 20. The client's user agent and the protocol are those of
// its last stream.
func ttlFor(t fleet.Type, n store.NodeView) ttlWord {
	delta := strings.HasPrefix(n.Protocol, "delta")
	switch {
	case !t.Expires():
		return ttlWord{known: true, why: "clients ignore the ttl of " + t.Slug()}
	case n.Protocol == "" || n.UserAgent == "":
		return ttlWord{why: "it depends on the client and its protocol, and neither was heard of yet"}
	case n.UserAgent == "envoy" && delta:
		return ttlWord{known: true, sent: true, why: "an Envoy over delta xDS drops what is not renewed"}
	case n.UserAgent == "envoy":
		return ttlWord{known: true, why: "an Envoy over state-of-the-world xDS crashes when a ttl expires: it keeps the resource"}
	case delta:
		return ttlWord{why: "it is sent if the client declares xds.config.supports-resource-ttl"}
	}
	return ttlWord{why: "it is sent if the client declares xds.config.supports-resource-ttl and xds.config.supports-resource-in-sotw"}
}
