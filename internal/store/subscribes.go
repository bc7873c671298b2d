package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"fairlead/internal/fleet"
)

// usualSubscribes is what an Envoy subscribes to of which nothing else was told, once that would have been (fleet.Subscriptions.Unusual).
const usualSubscribes = `'{"all": ["clusters", "listeners"]}'::jsonb`

// subscribesJSON is fleet.Subscriptions as it is stored: the types of which it asks for all, and those of which it asks for some.
type subscribesJSON struct {
	All       []string `json:"all,omitempty"`
	Named     []string `json:"named,omitempty"`
	Listeners []string `json:"listeners,omitempty"`
	Many      int      `json:"many,omitempty"`
}

// encodeSubscribes is nil, which is null, where nothing is known.
func encodeSubscribes(s fleet.Subscriptions) *string {
	if !s.Known() {
		return nil
	}
	j := subscribesJSON{Many: s.Many}
	for t, asks := range s.Types {
		switch asks {
		case fleet.AsksAll:
			j.All = append(j.All, fleet.Type(t).Slug())
		case fleet.AsksNames:
			j.Named = append(j.Named, fleet.Type(t).Slug())
		}
	}
	for _, name := range s.Listeners {
		j.Listeners = append(j.Listeners, clean(name, MaxName))
	}
	b, _ := json.Marshal(j) // plain fields: cannot fail
	text := string(b)
	return &text
}

// decodeSubscribes joins what several servers say of one node. What names a type that this build does not serve is left out.
func decodeSubscribes(b []byte) (all fleet.Subscriptions, err error) {
	if len(b) == 0 {
		return all, nil
	}
	var js []subscribesJSON
	if err := json.Unmarshal(b, &js); err != nil {
		return all, fmt.Errorf("decode what a node subscribes to: %w", err)
	}
	var listeners []string
	for _, j := range js {
		s := fleet.Subscriptions{Many: j.Many}
		listeners = append(listeners, j.Listeners...)
		for asks, types := range map[fleet.Asks][]string{fleet.AsksAll: j.All, fleet.AsksNames: j.Named} {
			for _, slug := range types {
				if t, ok := fleet.TypeFromSlug(slug); ok {
					s.Types[t] = asks
				}
			}
		}
		all = all.With(s)
	}
	if all.Types[fleet.Listener] == fleet.AsksNames && all.Many == 0 && len(listeners) > 0 {
		slices.Sort(listeners)
		all.Listeners = slices.Compact(listeners)
	}
	return all, nil
}
