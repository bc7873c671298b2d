package httpapi

import (
	"encoding/json"
	"fmt"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// placeholdersOf are the placeholders with which a resource was written, which is no Secret.
func placeholdersOf(row store.Resource) (p resource.Placeholders, err error) {
	if row.Summary != nil {
		err = json.Unmarshal(row.Summary, &p)
	}
	if err != nil {
		err = fmt.Errorf("read the placeholders of %s %q: %w", row.Type, row.Name, err)
	}
	return p, err
}

// valuesIn are the fleet's values that stand in a resource, as they were when it was written.
func valuesIn(t fleet.Type, summary []byte) map[string]string {
	p, err := placeholdersOf(store.Resource{Row: fleet.Row{Type: t}, Summary: summary})
	if t == fleet.Secret || err != nil {
		return nil // nothing is known of it
	}
	return p.Values
}
