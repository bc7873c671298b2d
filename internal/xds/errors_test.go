package xds

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fairlead/internal/fleet"
)

// TestStatusOfWhoGivesUp: a call whose client has ended it, or whose deadline has passed, is no error of the server's: its log has nothing of it.
func TestStatusOfWhoGivesUp(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	for _, x := range []struct {
		err  error
		code codes.Code
	}{
		{context.Canceled, codes.Canceled},
		{context.DeadlineExceeded, codes.DeadlineExceeded},
		{fmt.Errorf("read the fleet: %w", context.DeadlineExceeded), codes.DeadlineExceeded},
		{fmt.Errorf("%w: %w", fleet.ErrUnavailable, context.DeadlineExceeded), codes.Unavailable}, // the database's, which is tried again
		{errors.New("a bug"), codes.Internal},
	} {
		if got := status.Code(statusOf(ended, x.err)); got != x.code {
			t.Errorf("%v: %s, want %s", x.err, got, x.code)
		}
	}
}

// TestADeadlineOfOursIsAnError: one that passes while the client waits is not the client's.
func TestADeadlineOfOursIsAnError(t *testing.T) {
	t.Parallel()
	for _, err := range []error{context.DeadlineExceeded, context.Canceled} {
		if got := status.Code(statusOf(t.Context(), err)); got != codes.Internal {
			t.Errorf("%v: %s, want Internal", err, got)
		}
	}
}

func TestWordsAreCutBetweenCharacters(t *testing.T) {
	for s, want := range map[string]string{"abcd": "abcd", "abcde": "abcd", "abc\u00e9": "abc", "\u00e9\u00e9\u00e9": "\u00e9\u00e9", "\U0001f600\U0001f600": "\U0001f600"} {
		if got := shortened(s, 4); got != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	}
}
