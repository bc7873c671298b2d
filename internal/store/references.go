package store

import (
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
)

// MaxDangling is how many dangling references a refusal tells of.
const MaxDangling = 100

// DanglingError refuses a write to a fleet whose references are strict. It is a
// fleet.ErrConflict.
type DanglingError struct {
	Dangling []fleet.Dangling // by type and name; at most MaxDangling
	More     bool             // there are more
}

func (e *DanglingError) Error() string {
	return fmt.Sprintf("%d resources would be without what they name: %s", len(e.Dangling), fleet.ErrConflict)
}

// Unwrap returns fleet.ErrConflict.
func (e *DanglingError) Unwrap() error { return fleet.ErrConflict }

// danglingJSON is a row of what fleet_check_references refuses.
type danglingJSON struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Variant string `json:"variant"`
	RefType string `json:"ref_type"`
	RefName string `json:"ref_name"`
}

// danglingOf tells whether there are more than MaxDangling.
func danglingOf(js []danglingJSON) (out []fleet.Dangling, more bool) {
	js, more = page(js, MaxDangling)
	for _, j := range js {
		d := fleet.Dangling{Variant: j.Variant}
		var known, knownRef bool
		d.Type, known = fleet.TypeFromSlug(j.Type)
		d.Missing.Type, knownRef = fleet.TypeFromSlug(j.RefType)
		if d.Name, d.Missing.Name = j.Name, j.RefName; known && knownRef {
			out = append(out, d)
		}
	}
	return out, more
}

// danglingError reads the detail of FL424.
func danglingError(pg *pgconn.PgError) error {
	var js []danglingJSON
	if err := json.Unmarshal([]byte(pg.Detail), &js); err != nil {
		return fmt.Errorf("%s: %w", pg.Message, fleet.ErrConflict)
	}
	e := &DanglingError{}
	e.Dangling, e.More = danglingOf(js)
	return e
}
