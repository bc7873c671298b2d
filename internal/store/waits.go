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
	Had      *hadJSON       `json:"had,omitempty"` // which nothing but decodeHeld reads
}

// hadJSON is what a node had before its last streams, where that is of a later revision than they have settled.
type hadJSON struct {
	At      fleet.Revision `json:"at"`
	Without [][2]string    `json:"without,omitempty"` // type, name
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
func encodeWaits(w fleet.Waits, had fleet.Held) *string {
	if w.Empty() && had.At == 0 {
		return nil
	}
	w = w.With(fleet.Waits{})
	j := waitsJSON{More: w.More, Warming: namesOf(w.Warming)}
	if had.At > 0 {
		j.Had = &hadJSON{had.At, namesOf(had.Without)}
	}
	for _, h := range w.Withheld {
		j.Withheld = append(j.Withheld, withheldJSON{
			[4]string{h.Ref.Type.Slug(), clean(h.Ref.Name, MaxName), h.By.Type.Slug(), clean(h.By.Name, MaxName)}, h.Revision, h.Sealed})
	}
	b, _ := json.Marshal(j) // plain fields: cannot fail
	s := string(b)
	return &s
}

// namesOf is what refsOf reads.
func namesOf(refs []fleet.Ref) (names [][2]string) {
	for _, r := range refs {
		names = append(names, [2]string{r.Type.Slug(), clean(r.Name, MaxName)})
	}
	return names
}

// decodeHeld is what a node has of which one server says that it settled last at a revision; the zero value if that is not known.
func decodeHeld(b []byte, settled fleet.Revision) fleet.Held {
	js, err := unmarshalWaits(b)
	if err != nil {
		return fleet.Held{}
	}
	s := fleet.NodeStatus{Waits: joinWaits(js)}
	for _, j := range js {
		if j.Had != nil {
			s.Had = fleet.Held{At: max(0, j.Had.At), Without: refsOf(j.Had.Without)}
		}
	}
	return s.Held(settled)
}

func unmarshalWaits(b []byte) (js []waitsJSON, err error) {
	if len(b) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(b, &js); err != nil {
		return nil, fmt.Errorf("decode what a node waits for: %w", err)
	}
	return js, nil
}

// decodeWaits is what several servers say of one node.
func decodeWaits(b []byte) (fleet.Waits, error) {
	js, err := unmarshalWaits(b)
	return joinWaits(js), err
}

// joinWaits joins them. What names a type that this build does not serve is left out.
func joinWaits(js []waitsJSON) (all fleet.Waits) {
	for _, j := range js {
		w := fleet.Waits{Warming: refsOf(j.Warming), More: max(0, j.More)}
		for _, h := range j.Withheld {
			if pair := refsOf([][2]string{{h.names[0], h.names[1]}, {h.names[2], h.names[3]}}); len(pair) == 2 {
				w.Withheld = append(w.Withheld, fleet.Withheld{Ref: pair[0], By: pair[1], Revision: max(0, h.revision), Sealed: h.sealed})
			}
		}
		all = all.With(w)
	}
	return all
}
