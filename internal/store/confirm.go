package store

import (
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"fairlead/internal/fleet"
)

// ReasonCode says why somebody is to confirm something before it is done.
type ReasonCode string

// Why something is to be confirmed. The schema's functions find them (migrations, confirm.sql).
const (
	ReasonMostOfType     ReasonCode = "most_of_type"    // more than half of a type goes, and three at least
	ReasonRemovesMany    ReasonCode = "removes_many"    // a rollback removes more than ten resources
	ReasonRefusedVersion ReasonCode = "refused_version" // a rollback brings back what nodes have refused
	ReasonLiveNodes      ReasonCode = "live_nodes"      // of a fleet that goes
)

// Reason is why something is to be confirmed, with its numbers.
type Reason struct {
	Code  ReasonCode
	Type  fleet.Type // of ReasonMostOfType
	Count int64      // of ReasonLiveNodes nodes, else resources
	Of    int64      // of ReasonMostOfType, how many of the type there are
	Nodes int64      // of ReasonRefusedVersion, how many have refused one of them
}

// Reasons is a set of reasons: which there are, without their numbers. Its bits are part of
// tokens that clients have.
type Reasons uint16

// otherReasons have the bits above those of ReasonMostOfType, one for each type.
var otherReasons = []ReasonCode{ReasonRemovesMany, ReasonRefusedVersion, ReasonLiveNodes}

// ReasonsOf is the set of these.
func ReasonsOf(all []Reason) (set Reasons) {
	for _, r := range all {
		if r.Code == ReasonMostOfType {
			set |= 1 << r.Type
		}
		for i, code := range otherReasons {
			if r.Code == code {
				set |= 1 << (fleet.NumTypes + i)
			}
		}
	}
	return set
}

// keys is the set as the schema's functions take it.
func (set Reasons) keys() []string {
	out := []string{}
	for _, t := range fleet.Types() {
		if set&(1<<t) != 0 {
			out = append(out, string(ReasonMostOfType)+"/"+t.Slug())
		}
	}
	for i, code := range otherReasons {
		if set&(1<<(fleet.NumTypes+i)) != 0 {
			out = append(out, string(code))
		}
	}
	return out
}

// Confirmation is what somebody has seen, and of what.
type Confirmation struct {
	Seen    Seen
	Reasons Reasons
}

func (c Confirmation) json() map[string]any {
	return map[string]any{"revision": c.Seen.Revision, "token": c.Seen.Token.String(), "seen": c.Reasons.keys()}
}

// UnconfirmedError says that nothing was done, because somebody is to confirm it first. It is a
// fleet.ErrPrecondition.
type UnconfirmedError struct {
	Reasons []Reason // at least one
	Seen    Seen     // the fleet that they are of
}

func (e *UnconfirmedError) Error() string {
	return fmt.Sprintf("this is to be confirmed, for %d reasons: %v", len(e.Reasons), fleet.ErrPrecondition)
}

// Unwrap returns fleet.ErrPrecondition.
func (e *UnconfirmedError) Unwrap() error { return fleet.ErrPrecondition }

type reasonJSON struct {
	Code  ReasonCode `json:"code"`
	Type  string     `json:"type"`
	Count int64      `json:"count"`
	Of    int64      `json:"of"`
	Nodes int64      `json:"nodes"`
}

func reasonsOf(in []reasonJSON) (out []Reason) {
	for _, r := range in {
		t, _ := fleet.TypeFromSlug(r.Type) // "" where there is none
		out = append(out, Reason{Code: r.Code, Type: t, Count: r.Count, Of: r.Of, Nodes: r.Nodes})
	}
	return out
}

// unconfirmed reads the detail of FL428.
func unconfirmed(pg *pgconn.PgError) error {
	var detail struct {
		Reasons  []reasonJSON   `json:"reasons"`
		Revision fleet.Revision `json:"revision"`
		Token    string         `json:"token"`
	}
	if err := json.Unmarshal([]byte(pg.Detail), &detail); err != nil {
		return fmt.Errorf("%s: %w: %w", pg.Message, fleet.ErrPrecondition, err)
	}
	token, err := fleet.ParseToken(detail.Token)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", pg.Message, fleet.ErrPrecondition, err)
	}
	return &UnconfirmedError{Reasons: reasonsOf(detail.Reasons), Seen: Seen{Revision: detail.Revision, Token: token}}
}
