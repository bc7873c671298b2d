package store

import (
	"encoding/json"
	"fmt"

	"fairlead/internal/fleet"
)

// waitsJSON is fleet.Waits as it is stored.
type waitsJSON struct {
	Warming  [][2]string `json:"warming,omitempty"`  // type, name
	Withheld [][4]string `json:"withheld,omitempty"` // type, name, and those of what it waits for
	More     int         `json:"more,omitempty"`
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
		j.Withheld = append(j.Withheld, [4]string{h.Ref.Type.Slug(), clean(h.Ref.Name, MaxName), h.By.Type.Slug(), clean(h.By.Name, MaxName)})
	}
	b, _ := json.Marshal(j) // plain fields: cannot fail
	s := string(b)
	return &s
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
			if pair := refsOf([][2]string{{h[0], h[1]}, {h[2], h[3]}}); len(pair) == 2 {
				w.Withheld = append(w.Withheld, fleet.Withheld{Ref: pair[0], By: pair[1]})
			}
		}
		all = all.With(w)
	}
	return all, nil
}
