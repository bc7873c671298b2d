package store

import (
	"bytes"
	"encoding/json"

	"fairlead/internal/fleet"
)

// labelsJSON is fleet.NodeLabels as it is stored.
type labelsJSON struct {
	Region   string          `json:"region,omitempty"`
	Zone     string          `json:"zone,omitempty"`
	SubZone  string          `json:"sub_zone,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Cut      bool            `json:"cut,omitempty"`
}

// encodeLabels returns nil for labels that are not told. What no jsonb can hold, the
// character NUL, is replaced as in other texts of clients.
func encodeLabels(l *fleet.NodeLabels) *string {
	if l == nil {
		return nil
	}
	j := labelsJSON{
		Region: clean(l.Region, maxNodeID), Zone: clean(l.Zone, maxNodeID), SubZone: clean(l.SubZone, maxNodeID),
		Metadata: bytes.ReplaceAll(l.MetadataJSON, []byte(`\u0000`), []byte(`\ufffd`)), Cut: l.Cut,
	}
	b, err := json.Marshal(j)
	if err != nil { // it is no JSON: a status report must not fail over that
		j.Metadata, j.Cut = nil, true
		b, _ = json.Marshal(j)
	}
	text := string(b)
	return &text
}

func decodeLabels(b []byte, n *fleet.Node) (cut bool, err error) {
	var j labelsJSON
	if len(b) == 0 {
		return true, nil
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return true, err
	}
	n.Region, n.Zone, n.SubZone, n.MetadataJSON = j.Region, j.Zone, j.SubZone, j.Metadata
	return j.Cut, nil
}
