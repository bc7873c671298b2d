package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	client "fairlead/clients/go"
)

const (
	retryFor     = 10 * time.Second // from the first attempt to the start of the last
	retrySoonest = 100 * time.Millisecond
	retryDropped = 500 * time.Millisecond // after a connection that broke
)

// retrier repeats a request that the server asks to repeat, or whose connection broke
// before the answer: a read, a plan, or a write with an Idempotency-Key, of which the server
// makes one change however often it comes. So a write whose commit nobody heard of
// resolves to one revision.
type retrier struct {
	next  client.HttpRequestDoer
	now   func() time.Time
	pause func(context.Context, time.Duration) error
	// doubt: an attempt that was repeated may have had an effect. It is for whoever sends one
	// request after the other.
	doubt bool
}

// Do sends the request and repeats it for at most retryFor.
func (r *retrier) Do(req *http.Request) (*http.Response, error) {
	end := r.now().Add(retryFor)
	for first := true; ; first = false {
		resp, err := r.next.Do(req)
		wait, again := repeat(resp, err, first)
		if !again || !repeatable(req) || r.now().Add(wait).After(end) {
			if err != nil && !first {
				err = &lateError{err}
			}
			return resp, err
		}
		r.doubt = r.doubt || !undone(resp)
		if resp != nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
			resp.Body.Close()
		}
		if err := r.pause(req.Context(), wait); err != nil {
			return nil, &lateError{err}
		}
		req = req.Clone(req.Context())
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// lateError is an error after an attempt that may have had an effect.
type lateError struct{ err error }

func (e *lateError) Error() string { return e.err.Error() }

func (e *lateError) Unwrap() error { return e.err }

// undone reports whether an answer that is repeated says that nothing was done.
func undone(resp *http.Response) bool {
	if resp == nil {
		return false
	}
	var p client.Problem
	return json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&p) == nil && didNothing(p.Code, resp.StatusCode)
}

// didNothing reports whether a problem with this code says that the request had no effect, though its status is one that leaves that open.
func didNothing(code string, status int) bool {
	switch code {
	case "timeout", "database_full", "tenant_moving", "tenant_elsewhere":
		return true
	}
	return status == http.StatusTooManyRequests
}

func repeatable(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Header.Get("Idempotency-Key") != "" || strings.HasSuffix(req.URL.Path, "/plan")
}

// repeat reports whether an attempt should be followed by another, and after how long.
// A refused connection counts only after a first attempt that got through: the server
// restarts.
func repeat(resp *http.Response, err error, first bool) (time.Duration, bool) {
	if err != nil {
		dropped := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
		return retryDropped, dropped || !first && errors.Is(err, syscall.ECONNREFUSED)
	}
	if s := resp.StatusCode; s != http.StatusServiceUnavailable && s != http.StatusConflict && s != http.StatusTooManyRequests {
		return 0, false
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || seconds < 0 || seconds > int(retryFor/time.Second) {
		return 0, false
	}
	return max(retrySoonest, time.Duration(seconds)*time.Second), true
}
