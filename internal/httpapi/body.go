package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"

	"fairlead/internal/httpapi/access"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
)

const (
	maxDocument = 4 << 20  // bytes of a PUT's or an apply's body
	maxForm     = 64 << 10 // bytes of every other body
	drainAtMost = 16 << 20 // bytes of a refused body that are read, so that the client gets to read its answer
)

// document is the body of a PUT or an apply, as it was sent. It comes with the call
// and not through the generated decoder, because package resource decodes it strictly
// from the very bytes.
type document struct {
	format resource.Format
	bytes  []byte
}

// json returns the document as JSON; what is wrong with its form is a 400.
func (d document) json() ([]byte, error) {
	out, err := resource.ToJSON(d.format, d.bytes)
	var faults resource.Errors
	if errors.As(err, &faults) {
		return nil, refusedDocument(http.StatusBadRequest, "invalid_document", faults)
	}
	return out, err
}

// body bounds what an operation reads and checks how it is sent, before anything
// parses it.
func (a *API) body(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op := a.operation(r)
		if !op.hasBody {
			next.ServeHTTP(w, r)
			return
		}
		d, leave, err := a.readBody(r, callOf(r), op.rule)
		defer leave()
		if err != nil {
			if p := problemOf(err); p.status == http.StatusRequestEntityTooLarge {
				_, _ = io.CopyN(io.Discard, r.Body, drainAtMost)
			}
			fail(w, r, err)
			return
		}
		if !op.rule.document {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(d.bytes)), int64(len(d.bytes)) // of one that came in chunks too
			next.ServeHTTP(w, r)
			return
		}
		callOf(r).document = d
		r.Body, r.ContentLength = http.NoBody, 0
		r.Header.Del("Content-Type") // or the generated code would decode an empty body
		next.ServeHTTP(w, r)
	})
}

// readBody reads a body when there is room for it, which it has until leave is called.
func (a *API) readBody(r *http.Request, c *call, rule rule) (d document, leave func(), err error) {
	leave = func() {}
	format, limit, err := bodyForm(r, rule.document, rule.rows)
	if err != nil {
		return document{}, leave, err
	}
	size := r.ContentLength
	if size < 0 { // it does not say
		size = limit.most
	}
	if leave, err = a.enterBody(r.Context(), c, size); err != nil {
		return document{}, leave, err
	}
	var b bytes.Buffer
	if r.ContentLength >= 0 {
		b.Grow(int(size) + bytes.MinRead) // else it grows to twice as much
	}
	_, err = b.ReadFrom(io.LimitReader(r.Body, limit.most+1))
	switch {
	case int64(b.Len()) > limit.most:
		return document{}, leave, limit.passed
	case err != nil:
		p := refuse(http.StatusBadRequest, "incomplete_body", "the body ended before its announced length")
		p.cause = err
		return document{}, leave, p
	}
	return document{format: format, bytes: b.Bytes()}, leave, nil
}

// enterBody waits for room for a body of so many bytes.
func (a *API) enterBody(ctx context.Context, c *call, size int64) (leave func(), err error) {
	leave, err = a.bodies.Enter(ctx, c.tenantID(), size, c.giveWay)
	if err == nil {
		return leave, nil
	}
	if errors.Is(err, access.ErrBodies) {
		p := refuse(http.StatusServiceUnavailable, "timeout", err.Error())
		p.retry = retryAfter
		err = p
	}
	return func() {}, err
}

// bodyLimit is how long a body may be.
type bodyLimit struct {
	most   int64
	passed *problem
}

// bodyForm says how a body is written, and how long it may be. It refuses what says that it is longer.
func bodyForm(r *http.Request, isDocument, isLong bool) (resource.Format, bodyLimit, error) {
	none := func(p *problem) (resource.Format, bodyLimit, error) { return 0, bodyLimit{}, p }
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return none(refuse(http.StatusUnsupportedMediaType, "unsupported_encoding",
			"bodies are taken as they are, without Content-Encoding", headerFault("Content-Encoding", "unsupported", "an encoded body is not taken")))
	}
	format, ok := bodyFormat(r.Header.Get("Content-Type"))
	if !ok || !isDocument && format != resource.JSON {
		detail := "this operation takes application/json"
		if isDocument {
			detail += " or application/yaml"
		}
		return none(refuse(http.StatusUnsupportedMediaType, "unsupported_media_type", detail, headerFault("Content-Type", "unsupported", detail)))
	}
	limit, detail := int64(maxForm), "the body is larger than 64 KiB"
	if isDocument || isLong {
		limit, detail = maxDocument, "the body is larger than 4 MiB"
	}
	if isDocument && r.Method == http.MethodPost {
		detail += ": send fewer resources at once, in several requests"
	}
	tooLarge := refuse(http.StatusRequestEntityTooLarge, "body_too_large", detail, oapi.FieldError{Pointer: new(string), Code: "body_too_large", Detail: detail})
	if r.ContentLength > limit {
		return none(tooLarge)
	}
	return format, bodyLimit{limit, tooLarge}, nil
}

func headerFault(name, code, detail string) oapi.FieldError {
	return oapi.FieldError{Parameter: &name, Code: code, Detail: detail}
}

func bodyFormat(contentType string) (resource.Format, bool) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return 0, false
	case mediaType == "application/json":
		return resource.JSON, true
	case mediaType == "application/yaml":
		return resource.YAML, true
	}
	return 0, false
}
