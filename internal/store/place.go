package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// TokenPlace is what a cell knows of a token, a node credential or a session.
type TokenPlace int

const (
	// TokenUnknown: this cell has none with the id.
	TokenUnknown TokenPlace = iota
	// TokenHere: this cell serves its tenant, or it is an operator's. It may have ended: FindToken and the like tell that.
	TokenHere
	// TokenMoving: this cell has its rows, and another cell has its tenant or is about to. FindToken and the like do not know it.
	TokenMoving
	// TokenDeleted: its tenant was deleted in this cell. Where another one tells TokenMoving, it is what the tenant has left there.
	TokenDeleted
)

func (p TokenPlace) String() string { return [...]string{"unknown", "here", "moving", "deleted"}[p] }

// Place tells what this cell knows of the token, node credential or session with this id. It works as either role. Where no cell has the token
// and one tells TokenMoving, and none TokenDeleted, the tenant is between two cells: the caller is to come again, and is not one without a token.
func (s *Store) Place(ctx context.Context, tokenID [16]byte) (TokenPlace, error) {
	id := fleet.CredentialID(tokenID) // a fleet.SessionID has the same form
	places, err := crossTenant(ctx, s, pgx.RowTo[*string], `SELECT token_place($1)`, id.String())
	if err != nil {
		return TokenUnknown, fmt.Errorf("find the place of token %s: %w", id, err)
	}
	switch place := places[0]; {
	case place == nil:
		return TokenUnknown, nil
	case *place == "here", *place == "leaving":
		return TokenHere, nil
	case *place == "deleted":
		return TokenDeleted, nil
	}
	return TokenMoving, nil
}
