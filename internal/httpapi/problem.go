package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// problem is an error whose words are meant for the client. Every other error is told
// to the client by its kind alone.
type problem struct {
	status  int
	code    string
	detail  string
	faults  []oapi.FieldError
	retry   time.Duration       // of Retry-After; 0: none
	at      *store.LimitError   // what was reached; nil: no limit
	window  time.Duration       // for which at counts; 0: it is no rate
	etag    string              // the present one, with 412
	newest  *store.RevisionInfo // of the fleet, with 412
	missing oapi.Missing        // with 404
	confirm []oapi.ConfirmReason
	token   string // which confirms it
	forget  bool   // the cookie of the session, which is no good
	cause   error  // for the log; may be nil
}

func (p *problem) Error() string {
	if p.cause != nil {
		return p.code + ": " + p.cause.Error()
	}
	return p.code + ": " + p.detail
}

func (p *problem) Unwrap() error { return p.cause }

func refuse(status int, code, detail string, faults ...oapi.FieldError) *problem {
	return &problem{status: status, code: code, detail: detail, faults: faults}
}

// errMissing is the one answer for what is not there and for what is somebody else's.
func errMissing(what oapi.Missing, detail string) *problem {
	p := refuse(http.StatusNotFound, "not_found", detail)
	p.missing = what
	return p
}

// errNotFound is that of what has no words of its own.
var errNotFound = refuse(http.StatusNotFound, "not_found", "there is no such thing here")

// badParameter tells that one parameter of the path, the query or a header is wrong.
func badParameter(name, code, detail string) *problem {
	return refuse(http.StatusBadRequest, "invalid_request", requestDetail, oapi.FieldError{Parameter: &name, Code: code, Detail: detail})
}

// badField tells that one field of a small body is wrong.
func badField(pointer, code, detail string) *problem {
	return refuse(http.StatusBadRequest, "invalid_request", requestDetail, oapi.FieldError{Pointer: &pointer, Code: code, Detail: detail})
}

const requestDetail = "the request does not have the form that this operation takes"

// retryAfter is what a client is told to wait for a database that is away.
const retryAfter = time.Second

// retryHeavy is the same for one that took too long.
const retryHeavy = 5 * time.Second

// retryFull is the same for one whose disk is full.
const retryFull = time.Minute

// problemOf turns any error into the one that the client sees.
func problemOf(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	var faults resource.Errors
	if errors.As(err, &faults) {
		return refusedDocument(http.StatusUnprocessableEntity, "invalid_resource", faults)
	}
	if p, ok := asBusy(err); ok {
		p.cause = err
		return p
	}
	var at *store.LimitError
	var late *store.TimeoutError
	switch {
	case errors.As(err, &at):
		p = limitReached(at)
	case errors.As(err, &late):
		p = timedOut(late)
	default:
		p = byKind(err)
	}
	p.cause = err
	return p
}

func byKind(err error) *problem {
	switch {
	case errors.Is(err, fleet.ErrNotFound):
		return refuse(errNotFound.status, errNotFound.code, errNotFound.detail)
	case errors.Is(err, fleet.ErrInvalid):
		return refuse(http.StatusBadRequest, "invalid_request", requestDetail)
	case errors.Is(err, fleet.ErrConflict):
		return refuse(http.StatusConflict, "conflict", "the present state does not allow this")
	case errors.Is(err, fleet.ErrPrecondition):
		return refuse(http.StatusPreconditionFailed, "precondition_failed", "what is there is not what the precondition names")
	case errors.Is(err, fleet.ErrUnauthenticated):
		return refuse(http.StatusUnauthorized, "unauthenticated", "the token is not valid")
	case errors.Is(err, fleet.ErrForbidden):
		return errForbidden()
	case errors.Is(err, fleet.ErrLimit):
		return refuse(http.StatusUnprocessableEntity, "limit_exceeded", "a limit of this installation is exceeded")
	case errors.Is(err, store.ErrFull):
		p := refuse(http.StatusServiceUnavailable, "database_full", "the database has no room on its disk, and nothing was done: its operator has to make room")
		p.retry = retryFull
		return p
	case errors.Is(err, store.ErrMoving):
		p := refuse(http.StatusServiceUnavailable, "tenant_moving", "the tenant is being moved to another cell, and nothing was done: repeat the request")
		p.retry = retryAfter
		return p
	case errors.Is(err, fleet.ErrUnavailable), errors.Is(err, context.DeadlineExceeded):
		p := refuse(http.StatusServiceUnavailable, "unavailable", "the database cannot be reached now, or not in time; repeat the request")
		p.retry = retryAfter
		return p
	}
	return refuse(http.StatusInternalServerError, "internal", "the server failed; its log tells why under this request id")
}

// timedOut tells what to do about a request that took too long. It did nothing.
func timedOut(late *store.TimeoutError) *problem {
	p := refuse(http.StatusServiceUnavailable, "timeout", "")
	p.retry = retryAfter
	switch {
	case late.Crowded && late.Wait == store.WaitHead:
		p.detail = "so many writes of the fleet wait for their turn that this request did not, and did nothing: " +
			"repeat it, or make fewer writes of one fleet at the same time"
	case late.Crowded:
		p.detail = "so many of the tenant's requests wait for their turn that this one did not, and did nothing: " +
			"repeat it, or make fewer requests at the same time"
	case late.Wait == store.WaitHead:
		p.detail = fmt.Sprintf("other writes of the fleet took more than the %v that this request may wait, and it did nothing: "+
			"repeat it, or make fewer writes of one fleet at the same time", late.Limit)
	case late.Wait == store.WaitConn:
		p.detail = fmt.Sprintf("this server's other requests took more than the %v that this one may wait, and it did nothing: repeat it", late.Limit)
	case late.Wait == store.WaitShare:
		p.detail = fmt.Sprintf("the tenant's other requests took more than the %v that this one may wait, and it did nothing: "+
			"repeat it, or make fewer requests at the same time", late.Limit)
	default:
		p.retry = retryHeavy
		p.detail = fmt.Sprintf("the database took more than the %v that a request of this size may take, and nothing was done: "+
			"repeat it when the database has less to do, or ask for less at once", late.Limit)
	}
	return p
}

// refusedDocument tells what is wrong with a document that the user wrote.
func refusedDocument(status int, code string, faults resource.Errors) *problem {
	detail := fmt.Sprintf("%d fields are not acceptable", len(faults))
	if len(faults) == 1 {
		detail = faults[0].Detail
	}
	return &problem{status: status, code: code, detail: detail, faults: fieldErrors(faults), cause: fleet.ErrInvalid}
}

func fieldErrors(faults []resource.FieldError) []oapi.FieldError {
	out := make([]oapi.FieldError, 0, len(faults))
	for _, f := range faults {
		out = append(out, oapi.FieldError{Pointer: &f.Pointer, Code: f.Code, Detail: f.Detail})
	}
	return out
}

// fail answers with the problem that err is, and leaves the rest of err to the access
// log's line.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	note(r).failed(p, err)
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	h.Del("Content-Length")
	h.Del("ETag")
	if p.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(wholeSecondsUp(p.retry)))
	}
	rateHeaders(h, p)
	if p.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="fairlead"`)
	}
	if p.etag != "" {
		h.Set("ETag", p.etag)
	}
	if p.forget {
		http.SetCookie(w, note(r).cookie.removed())
	}
	w.WriteHeader(p.status)
	_ = json.NewEncoder(w).Encode(p.body(r)) // the client is gone: nobody to tell
}

func (p *problem) body(r *http.Request) oapi.Problem {
	b := oapi.Problem{
		Type: "about:blank", Title: http.StatusText(p.status), Status: int32(p.status),
		Code: p.code, Detail: &p.detail, RequestId: note(r).id,
	}
	if len(p.faults) > 0 {
		b.Errors = &p.faults
	}
	b.Missing, b.Token = optional(p.missing), optional(p.token)
	if p.confirm != nil {
		b.Confirm = &p.confirm
	}
	if p.newest != nil {
		newest := revisionOf(*p.newest)
		b.Newest = &newest
	}
	if p.at != nil {
		b.What, b.Limit, b.Used = (*oapi.LimitName)(&p.at.What), &p.at.Limit, &p.at.Used
	}
	return b
}
