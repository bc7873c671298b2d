package store

import (
	"encoding/json"
	"fmt"

	"fairlead/internal/fleet"
)

// waitsJSON is fleet.Waits as it is stored.
type waitsJSON struct {
	Warming  [][2]string    `json:"warming,omitempty"` // type, name
	Withheld []withheldJSON `json:"withheld,omitempty"`
	More     int            `json:"more,omitempty"`
}

// withheldJSON is [type, name, by_type, by_name, revision], and true behind it where by is sealed. Rows of before version 13 have no revision.
type withheldJSON struct {
	names    [4]string
	revision fleet.Revision
	sealed   bool
}

func (h withheldJSON) MarshalJSON() ([]byte, error) {
	tuple := []any{h.names[0], h.names[1], h.names[2], h.names[3], int64(h.revision)}
	if h.sealed {
		tuple = append(tuple, true)
	}
	return json.Marshal(tuple)
}

func (h *withheldJSON) UnmarshalJSON(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	into := []any{&h.names[0], &h.names[1], &h.names[2], &h.names[3], &h.revision, &h.sealed}
	for i, part := range parts[:min(len(parts), len(into))] { // it may have fewer, or more, of another version
		if err := json.Unmarshal(part, into[i]); err != nil {
			return err
		}
	}
	return nil
}

// encodeWaits cuts names to size; nil, which is null, where there is nothing.
func encodeWaits(w fleet.Waits) *string {
	if w.Empty() {
		return nil
	}
	w = w.With(fleet.Waits{})
	j := waitsJSON{More: w.More}
	for _, r := range w.Warming {
		j.Warming = append(j.Warming, [2]string{r.Type.Slug(), clean(r.Name, MaxName)})
	}
	for _, h := range w.Withheld {
		j.Withheld = append(j.Withheld, withheldJSON{
			[4]string{h.Ref.Type.Slug(), clean(h.Ref.Name, MaxName), h.By.Type.Slug(), clean(h.By.Name, MaxName)}, h.Revision, h.Sealed})
	}
	b, _ := json.Marshal(j) // plain fields: cannot fail
	s := string(b)
	return &s
}

// decodeHeld is what a node has that settled last at a revision; the zero value if that is not known.
func decodeHeld(b []byte, settled fleet.Revision) fleet.Held {
	w, err := decodeWaits(b)
	if err != nil {
		return fleet.Held{}
	}
	return w.Held(settled)
}

// decodeWaits joins what several servers say of one node. What names a type that this
// build does not serve is left out.
func decodeWaits(b []byte) (all fleet.Waits, err error) {
	if len(b) == 0 {
		return all, nil
	}
	var js []waitsJSON
	if err := json.Unmarshal(b, &js); err != nil {
		return all, fmt.Errorf("decode what a node waits for: %w", err)
	}
	for _, j := range js {
		w := fleet.Waits{Warming: refsOf(j.Warming), More: max(0, j.More)}
		for _, h := range j.Withheld {
			if pair := refsOf([][2]string{{h.names[0], h.names[1]}, {h.names[2], h.names[3]}}); len(pair) == 2 {
				w.Withheld = append(w.Withheld, fleet.Withheld{Ref: pair[0], By: pair[1], Revision: max(0, h.revision), Sealed: h.sealed})
			}
		}
		all = all.With(w)
	}
	return all, nil
}
