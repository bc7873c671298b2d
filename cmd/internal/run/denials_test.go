package run

import (
	"context"
	"log/slog"
	"testing"
)

// recorded are the calls of RecordDenials: whether each was the last.
type recorded chan bool

func (r recorded) RecordDenials(ctx context.Context, end bool) error {
	r <- end
	return ctx.Err()
}

// What was denied last is written when the server stops, with a context that has not ended.
func TestTheLastDenialsAreWrittenAtTheEnd(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	r := make(recorded, 1)
	if err := (denials{r, slog.New(slog.DiscardHandler)}).run(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case end := <-r:
		if !end {
			t.Error("it was not told that it is the end")
		}
	default:
		t.Error("nothing was written")
	}
}
