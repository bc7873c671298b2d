package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
)

// StaleError says which changes of a Write met resources in another state than they
// asked for, or than Write.Seen. It is a fleet.ErrPrecondition.
type StaleError struct {
	Changed []Changed // at least one, in the order of the changes; at most 100
	text    string
}

// Changed is a resource as it is now.
type Changed struct {
	Index    int            // in Write.Changes
	ETag     string         // "" when there is no such resource
	Revision fleet.Revision // that last changed it, or deleted it; 0: there never was any, or nothing is known of it any more
	Actor    string
	At       time.Time
}

func (e *StaleError) Error() string { return e.text + ": " + fleet.ErrPrecondition.Error() }

// Unwrap returns fleet.ErrPrecondition.
func (e *StaleError) Unwrap() error { return fleet.ErrPrecondition }

// MovedError says that a fleet is at another revision than a Write expected. It is a
// fleet.ErrPrecondition.
type MovedError struct {
	Newest RevisionInfo // Revision alone where no more is known
}

func (e *MovedError) Error() string {
	return fmt.Sprintf("the fleet is at revision %d: %v", e.Newest.Revision, fleet.ErrPrecondition)
}

// Unwrap returns fleet.ErrPrecondition.
func (e *MovedError) Unwrap() error { return fleet.ErrPrecondition }

// SettingsError says that a fleet's settings are not those that a change of them asked for. It is a
// fleet.ErrPrecondition.
type SettingsError struct {
	ETag string // of what they are
}

func (e *SettingsError) Error() string {
	return fmt.Sprintf("the settings of the fleet are now %s: %v", e.ETag, fleet.ErrPrecondition)
}

// Unwrap returns fleet.ErrPrecondition.
func (e *SettingsError) Unwrap() error { return fleet.ErrPrecondition }

// precondition reads the detail of FL412.
func precondition(pg *pgconn.PgError) error {
	var detail struct {
		Changed []struct {
			Index    int            `json:"index"`
			ETag     string         `json:"etag"`
			Revision fleet.Revision `json:"revision"`
			Actor    string         `json:"actor"`
			At       *time.Time     `json:"at"`
		} `json:"changed"`
		Newest *struct {
			Revision fleet.Revision `json:"revision"`
			At       *time.Time     `json:"at"`
			Kind     string         `json:"kind"`
			Message  string         `json:"message"`
			Actor    string         `json:"actor"`
			Changes  int            `json:"changes"`
			Created  int            `json:"created"`
			Deleted  int            `json:"deleted"`
		} `json:"newest"`
		Settings string `json:"settings"`
		Read     bool   `json:"read"`
	}
	if pg.Detail != "" && json.Unmarshal([]byte(pg.Detail), &detail) != nil {
		return fmt.Errorf("%s: %w", pg.Message, fleet.ErrPrecondition)
	}
	if n := detail.Newest; n != nil {
		return &MovedError{RevisionInfo{
			Revision: n.Revision, At: timeOrZero(n.At), Kind: n.Kind, Message: n.Message, Actor: n.Actor, Changes: n.Changes, Created: n.Created, Deleted: n.Deleted,
		}}
	}
	if detail.Read {
		return ErrReadMoved
	}
	if detail.Settings != "" {
		return &SettingsError{ETag: detail.Settings}
	}
	if len(detail.Changed) == 0 {
		return fmt.Errorf("%s: %w", pg.Message, fleet.ErrPrecondition)
	}
	stale := &StaleError{text: pg.Message}
	for _, c := range detail.Changed {
		stale.Changed = append(stale.Changed, Changed{Index: c.Index, ETag: c.ETag, Revision: c.Revision, Actor: c.Actor, At: timeOrZero(c.At)})
	}
	return stale
}
