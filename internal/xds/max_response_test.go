package xds

import (
	"testing"

	"fairlead/internal/fleet"
)

// TestHowMuchAClientTakes: a client of gRPC's libraries takes 4 MiB at once, unless its bootstrap says more.
func TestHowMuchAClientTakes(t *testing.T) {
	t.Parallel()
	for metadata, want := range map[string]int{
		"":                                    4 << 20,
		`{}`:                                  4 << 20,
		`{"fairlead": "x"}`:                   4 << 20,
		`{"fairlead": {"x": 1}}`:              4 << 20,
		`{"fairlead": {"bootstrap": "mine"}}`: 4 << 20,
		`{"fairlead": {"bootstrap": 2}}`:      64 << 20,
		`{"fairlead": {"max_response_bytes": 8388608}}`:                 8 << 20,
		`{"fairlead": {"bootstrap": 2, "max_response_bytes": 5000000}}`: 5_000_000,
		`{"fairlead": {"max_response_bytes": "8388608"}}`:               4 << 20,
		`{"fairlead": {"max_response_bytes": 1}}`:                       4 << 20,
		`{"fairlead": {"max_response_bytes": -1}}`:                      4 << 20,
		`{"fairlead": {"max_response_bytes": 1e300}}`:                   1<<31 - 1,
	} {
		if got := maxResponse(fleet.Node{UserAgent: "envoy", MetadataJSON: []byte(metadata)}); got != want {
			t.Errorf("%s: %d bytes, want %d", metadata, got, want)
		}
	}
	if got := maxResponse(fleet.Node{UserAgent: "gRPC Go", MetadataJSON: []byte(`{"fairlead": {"bootstrap": 2}}`)}); got != 4<<20 {
		t.Errorf("of a gRPC client %d bytes, want 4 MiB", got)
	}
}
