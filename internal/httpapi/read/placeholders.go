package read

import (
	"encoding/json"
	"fmt"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// PlaceholdersOf are the placeholders with which a resource was written, which is no Secret.
func PlaceholdersOf(row store.Resource) (p resource.Placeholders, err error) {
	if row.Summary != nil {
		err = json.Unmarshal(row.Summary, &p)
	}
	if err != nil {
		err = fmt.Errorf("read the placeholders of %s %q: %w", row.Type, row.Name, err)
	}
	return p, err
}

// ValuesIn are the fleet's values that stand in a resource, as they were when it was written.
func ValuesIn(t fleet.Type, summary []byte) map[string]string {
	p, err := PlaceholdersOf(store.Resource{Row: fleet.Row{Type: t}, Summary: summary})
	if t == fleet.Secret || err != nil {
		return nil // nothing is known of it
	}
	return p.Values
}

// SealedFor is the id of the key that a resource is sealed with; "": it is no Secret, or that was not noted.
func SealedFor(t fleet.Type, summary []byte) string {
	if t != fleet.Secret {
		return ""
	}
	var s oapi.SecretSummary
	_ = json.Unmarshal(summary, &s) // else nothing is known of it
	return orZero(s.SealedFor)
}

func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
