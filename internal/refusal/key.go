package refusal

import "fairlead/internal/fleet"

// Key is a version that is refused, or was. Without a name nobody was held responsible.
type Key struct {
	Type          fleet.Type
	Name, Version string
}

// KeyOf is the version that a record is about.
func KeyOf(r fleet.Refusal) Key { return Key{r.Type, r.Name, r.Version} }
