package traces

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Caller is the span of whoever made a request, as its traceparent names it. Nothing depends on it but a link: a caller that is not known to be
// honest decides neither which trace a revision has nor whether it is told.
type Caller struct{ context trace.SpanContext }

// CallerOf reads the header; one that is not well-formed is none. What else the caller says, as in tracestate, is not passed on.
func CallerOf(h http.Header) Caller {
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(http.Header{"Traceparent": h.Values("Traceparent")}))
	return Caller{trace.SpanContextFromContext(ctx)}
}

type requestKey struct{}

// InRequest says that what is done with ctx is done for a request, whose span will be told.
func InRequest(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, true)
}

// RequestOf is the parent of what is done for a revision: the request's span, or none.
func (tr *Trace) RequestOf(ctx context.Context) ID {
	if ctx.Value(requestKey{}) == nil {
		return ID{}
	}
	return tr.Request()
}
