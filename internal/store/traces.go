package store

import (
	"context"
	"log/slog"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/traces"
)

// traced tells of the transaction that made a revision. Each way that makes one calls it, or the trace of its revisions has no beginning.
func (s *Store) traced(ctx context.Context, key fleet.Key, rev fleet.Revision, begun time.Time, attrs ...slog.Attr) {
	if tr := s.traces.Of(key, rev); tr != nil {
		tr.Add(traces.Span{ID: tr.Commit(), Parent: tr.RequestOf(ctx), Name: "commit", Kind: traces.Client, Begin: begun, End: time.Now(),
			Attrs: append(attrs, slog.String("db.system.name", "postgresql"))})
	}
}
