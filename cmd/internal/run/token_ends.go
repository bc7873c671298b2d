package run

import (
	"context"
	"log/slog"
	"time"

	"fairlead/internal/store"
)

const (
	tokenEndsFirst = 5 * time.Second // after the start
	tokenEndsEvery = 5 * time.Minute // give or take a fifth
	tokenEndsMost  = 1000            // tokens that are looked at: the newest
)

// tokenEnds tells, for metrics, when the last operator token ends: from then on nobody can make the next one over the API.
type tokenEnds struct {
	store interface {
		OperatorTokens(ctx context.Context, q store.CredentialFilter) ([]store.OperatorToken, bool, error)
	}
	tell func(last time.Time) // zero: none is good
	log  *slog.Logger
}

func (e tokenEnds) run(ctx context.Context) error {
	return routine{log: e.log, name: "the look at operator tokens", first: about(tokenEndsFirst), every: tokenEndsEvery, once: e.once}.run(ctx)
}

func (e tokenEnds) once(ctx context.Context) (failed bool) {
	tokens, _, err := e.store.OperatorTokens(ctx, store.CredentialFilter{State: store.CredentialActive, Limit: tokenEndsMost})
	if err != nil {
		e.log.Debug("it is not known when operator tokens end", "error", err)
		return true
	}
	var last time.Time
	for _, k := range tokens {
		if k.ExpiresAt.After(last) {
			last = k.ExpiresAt
		}
	}
	e.tell(last)
	return false
}
