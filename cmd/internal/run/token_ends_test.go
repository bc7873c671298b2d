package run

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// operatorTokens answers as it says.
type operatorTokens struct {
	tokens []store.OperatorToken
	err    error
	asked  store.CredentialFilter
}

func (o *operatorTokens) OperatorTokens(_ context.Context, q store.CredentialFilter) ([]store.OperatorToken, bool, error) {
	o.asked = q
	return o.tokens, false, o.err
}

func TestTheEndOfTheLastOperatorTokenIsTold(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var told []time.Time
	fake := &operatorTokens{tokens: []store.OperatorToken{{ExpiresAt: first}, {ExpiresAt: first.Add(time.Hour)}, {ExpiresAt: first.Add(time.Minute)}}}
	e := tokenEnds{fake, func(last time.Time) { told = append(told, last) }, slog.New(slog.DiscardHandler)}
	if failed := e.once(t.Context()); failed || len(told) != 1 || !told[0].Equal(first.Add(time.Hour)) || fake.asked.State != store.CredentialActive {
		t.Errorf("failed %t, told %v of %+v", failed, told, fake.asked)
	}
	fake.err = fleet.ErrUnavailable
	if failed := e.once(t.Context()); !failed || len(told) != 1 {
		t.Errorf("the database is away: failed %t, told %v", failed, told)
	}
	fake.err, fake.tokens = nil, nil
	if failed := e.once(t.Context()); failed || len(told) != 2 || !told[1].IsZero() {
		t.Errorf("of none: failed %t, told %v", failed, told)
	}
}
