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
	// TokenArriving: this cell has its rows, and is about to have its tenant. FindToken and the like do not know it.
	TokenArriving
	// TokenGone: this cell has what its tenant has left, and another cell has its tenant, or is about to. FindToken and the like do not know it either.
	TokenGone
	// TokenDeleted: its tenant was deleted in this cell. Where another one tells TokenArriving or TokenGone, it is what the tenant has left there.
	TokenDeleted
)

func (p TokenPlace) String() string {
	return [...]string{"unknown", "here", "arriving", "gone", "deleted"}[p]
}

// Elsewhere reports whether this cell has its rows, and does not serve its tenant.
func (p TokenPlace) Elsewhere() bool { return p == TokenArriving || p == TokenGone }

// Place tells what this cell knows of the token, node credential or session with this id and this hash of all of it: who has an id alone is told nothing (T07). It works as
// either role. Where no cell has the token and one tells TokenArriving, and none TokenDeleted, the tenant is between two cells. Where one tells TokenGone and none of these,
// the tenant is in a cell that was not asked. The caller is to come again, and is not one without a token.
func (s *Store) Place(ctx context.Context, tokenID [16]byte, hash [32]byte) (TokenPlace, error) {
	return s.place(ctx, tokenID, hash[:])
}

// PlaceOfID is Place of an id that nobody has sent, or that was good.
func (s *Store) PlaceOfID(ctx context.Context, tokenID [16]byte) (TokenPlace, error) {
	return s.place(ctx, tokenID, nil)
}

func (s *Store) place(ctx context.Context, tokenID [16]byte, hash []byte) (TokenPlace, error) {
	id := fleet.CredentialID(tokenID) // a fleet.SessionID has the same form
	places, err := crossTenant(ctx, s, pgx.RowTo[*string], `SELECT place_of_token($1, $2)`, id.String(), hash)
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
	case *place == "arriving":
		return TokenArriving, nil
	}
	return TokenGone, nil
}
