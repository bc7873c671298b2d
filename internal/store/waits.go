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
	Missed   []withheldJSON `json:"missed,omitempty"`
	More     int            `json:"more,omitempty"`
}

// withheldJSON is [type, name, by_type, by_name, revision]. Rows of before version 13 have
// no revision.
type withheldJSON struct {
	names    [4]string
	revision fleet.Revision
}

func (h withheldJSON) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{h.names[0], h.names[1], h.names[2], h.names[3], int64(h.revision)})
}

func (h *withheldJSON) UnmarshalJSON(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for i, part := range parts[:min(len(parts), len(h.names)+1)] {
		var err error
		if i < len(h.names) {
			err = json.Unmarshal(part, &h.names[i])
		} else {
			err = json.Unmarshal(part, &h.revision)
		}
		if err != nil {
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
	j.Withheld, j.Missed = encodeWithheld(w.Withheld), encodeWithheld(w.Missed)
	b, _ := json.Marshal(j) // plain fields: cannot fail
	s := string(b)
	return &s
}

func encodeWithheld(list []fleet.Withheld) (all []withheldJSON) {
	for _, h := range list {
		all = append(all, withheldJSON{
			[4]string{h.Ref.Type.Slug(), clean(h.Ref.Name, MaxName), h.By.Type.Slug(), clean(h.By.Name, MaxName)}, h.Revision})
	}
	return all
}

// decodeWaits is what a node waits for at present, for people.
func decodeWaits(b []byte) (fleet.Waits, error) {
	w, err := decodeAllWaits(b)
	w.Missed = nil
	return w, err
}

// decodeHeld is what a node has that settled last at a revision; the zero value if that is not known.
func decodeHeld(b []byte, settled fleet.Revision) fleet.Held {
	w, err := decodeAllWaits(b)
	if err != nil {
		return fleet.Held{}
	}
	return w.Held(settled)
}

// decodeAllWaits joins what several servers say of one node. What names a type that this
// build does not serve is left out.
func decodeAllWaits(b []byte) (all fleet.Waits, err error) {
	if len(b) == 0 {
		return all, nil
	}
	var js []waitsJSON
	if err := json.Unmarshal(b, &js); err != nil {
		return all, fmt.Errorf("decode what a node waits for: %w", err)
	}
	for _, j := range js {
		w := fleet.Waits{Warming: refsOf(j.Warming), More: max(0, j.More)}
		w.Withheld, w.Missed = decodeWithheld(j.Withheld), decodeWithheld(j.Missed)
		all = all.With(w)
	}
	return all, nil
}

func decodeWithheld(list []withheldJSON) (all []fleet.Withheld) {
	for _, h := range list {
		if pair := refsOf([][2]string{{h.names[0], h.names[1]}, {h.names[2], h.names[3]}}); len(pair) == 2 {
			all = append(all, fleet.Withheld{Ref: pair[0], By: pair[1], Revision: max(0, h.revision)})
		}
	}
	return all
}
