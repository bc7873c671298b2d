package dev

import (
	"context"
	"errors"
	"net/http"
	"time"

	"fairlead/internal/fleet"
)

// patience is how long a start bears a database that does not answer: Postgres may be
// restarted under it.
const patience = 10 * time.Second

// patiently repeats call while its error is fleet.ErrUnavailable, until patience or ctx
// ends; then it returns that error.
func patiently(ctx context.Context, call func() error) error {
	end := time.Now().Add(patience)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := call()
		if !errors.Is(err, fleet.ErrUnavailable) || time.Now().Add(pause).After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// patientClient sends requests to our own API, and again while it answers 503. Every one
// of a start may be sent twice: what the first made is found, or is made beside it.
type patientClient struct{}

// Do returns the last answer, a 503 too.
func (patientClient) Do(r *http.Request) (resp *http.Response, err error) {
	_ = patiently(r.Context(), func() error {
		if resp != nil {
			_ = resp.Body.Close()
		}
		if r.GetBody != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return err
			}
		}
		if resp, err = http.DefaultClient.Do(r); err == nil && resp.StatusCode == http.StatusServiceUnavailable { //nolint:bodyclose // the caller's, or closed above
			return fleet.ErrUnavailable
		}
		return err
	})
	return resp, err
}
