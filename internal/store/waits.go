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
	Missed   []missedJSON   `json:"missed,omitempty"`
	More     int            `json:"more,omitempty"`
}

// withheldJSON is [type, name, by_type, by_name, revision], and true behind it where by is sealed; false and true where it is frozen. Rows of before
// version 13 have no revision.
type withheldJSON struct {
	names    [4]string
	revision fleet.Revision
	sealed   bool
	frozen   bool
}

func (h withheldJSON) MarshalJSON() ([]byte, error) {
	tuple := []any{h.names[0], h.names[1], h.names[2], h.names[3], int64(h.revision)}
	switch {
	case h.frozen:
		tuple = append(tuple, h.sealed, true)
	case h.sealed:
		tuple = append(tuple, true)
	}
	return json.Marshal(tuple)
}

func (h *withheldJSON) UnmarshalJSON(b []byte) error {
	return decodeTuple(b, &h.names[0], &h.names[1], &h.names[2], &h.names[3], &h.revision, &h.sealed, &h.frozen)
}

// missedJSON is [type, name, since, until].
type missedJSON struct {
	name         [2]string
	since, until fleet.Revision
}

func (m missedJSON) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{m.name[0], m.name[1], int64(m.since), int64(m.until)})
}

func (m *missedJSON) UnmarshalJSON(b []byte) error {
	return decodeTuple(b, &m.name[0], &m.name[1], &m.since, &m.until)
}

// decodeTuple reads an array into as many values. It may have fewer, or more, of another version.
func decodeTuple(b []byte, into ...any) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for i, part := range parts[:min(len(parts), len(into))] {
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
			[4]string{h.Ref.Type.Slug(), clean(h.Ref.Name, MaxName), h.By.Type.Slug(), clean(h.By.Name, MaxName)}, h.Revision, h.Sealed, h.Frozen})
	}
	for _, m := range w.Missed {
		j.Missed = append(j.Missed, missedJSON{[2]string{m.Ref.Type.Slug(), clean(m.Ref.Name, MaxName)}, m.Since, m.Until})
	}
	b, _ := json.Marshal(j) // plain fields: cannot fail
	s := string(b)
	return &s
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
		for _, h := range j.Withheld {
			if pair := refsOf([][2]string{{h.names[0], h.names[1]}, {h.names[2], h.names[3]}}); len(pair) == 2 {
				w.Withheld = append(w.Withheld, fleet.Withheld{Ref: pair[0], By: pair[1], Revision: max(0, h.revision), Sealed: h.sealed, Frozen: h.frozen})
			}
		}
		for _, m := range j.Missed {
			for _, ref := range refsOf([][2]string{m.name}) {
				w.Missed = append(w.Missed, fleet.Missed{Ref: ref, Since: max(0, m.since), Until: max(0, m.until)})
			}
		}
		all = all.With(w)
	}
	return all, nil
}
