package traces

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"fairlead/internal/fleet"
)

// Trace is that of one revision of a fleet.
type Trace struct {
	tracer   *Tracer
	key      fleet.Key
	revision fleet.Revision
	id       trace.TraceID
}

// ID names a span within its trace; the zero value is none.
type ID = trace.SpanID

// Of is the trace of a revision; nil if it is not traced. It costs one hash where revisions are traced, and nothing else.
func (t *Tracer) Of(key fleet.Key, rev fleet.Revision) *Trace {
	if t == nil || rev <= 0 {
		return nil
	}
	id := traceID(key, rev)
	if binary.BigEndian.Uint64(id[8:])>>1 >= t.bound {
		return nil
	}
	return &Trace{t, key, rev, id}
}

// traceID is the same in every process, and nobody has to be told of it. It is no secret.
func traceID(key fleet.Key, rev fleet.Revision) (id trace.TraceID) {
	const of = "fairlead revision"
	text := make([]byte, 0, len(of)+len(key.Tenant)+len(key.Fleet)+8)
	text = append(append(append(text, of...), key.Tenant[:]...), key.Fleet[:]...)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(text, uint64(rev))) //nolint:gosec // bits are bits
	return trace.TraceID(sum[:16])
}

// String is the trace's id as logs, exemplars and headers have it.
func (tr *Trace) String() string { return tr.id.String() }

// LogAttr names the trace of a revision in a line of the log; empty, which is left out, where there is none.
func (t *Tracer) LogAttr(key fleet.Key, rev fleet.Revision) slog.Attr {
	if tr := t.Of(key, rev); tr != nil {
		return slog.String(LogKey, tr.String())
	}
	return slog.Attr{}
}

// LogKey is what a trace's id is called in the log.
const LogKey = "trace_id"

// Response is the header that tells a caller the trace that its request is part of, as W3C's Trace Context has it.
func (tr *Trace) Response() (name, value string) {
	return "Traceresponse", fmt.Sprintf("00-%s-%s-01", tr.id, tr.Request())
}

// Request is the span of the request that made the revision: it is the same in every process.
func (tr *Trace) Request() ID { return tr.shared("request") }

// Commit is the span of the transaction: likewise.
func (tr *Trace) Commit() ID { return tr.shared("commit") }

// CatchUp is the span in which this process read the revision.
func (tr *Trace) CatchUp() ID { return tr.spanID("catch-up", tr.tracer.here[:]) }

func (tr *Trace) shared(name string) ID { return tr.spanID(name, nil) }

func (tr *Trace) spanID(name string, process []byte) ID {
	sum := sha256.Sum256(append(append(tr.id[:], name...), process...))
	return ID(sum[:8])
}

// Span is something that has taken its time. No body, no text of a tenant's and no credential belongs into it.
type Span struct {
	ID         ID // zero: drawn
	Parent     ID // zero: it is the root
	Name       string
	Kind       trace.SpanKind
	Begin, End time.Time
	Attrs      []slog.Attr
	Caller     Caller // whose request it is
	Failed     string // why it did not end well; "": it did
}

// The kinds of spans.
const (
	Internal = trace.SpanKindInternal
	Server   = trace.SpanKindServer
	Client   = trace.SpanKindClient
)

// Add tells of a span, and returns its name. It does not wait: a span for which there is no room is counted as dropped.
func (tr *Trace) Add(s Span) ID {
	if s.ID == (ID{}) {
		s.ID = drawn()
	}
	ctx := context.WithValue(context.Background(), given{}, ids{tr.id, s.ID})
	if s.Parent != (ID{}) {
		ctx = trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: tr.id, SpanID: s.Parent, TraceFlags: trace.FlagsSampled, Remote: true,
		}))
	}
	options := []trace.SpanStartOption{trace.WithTimestamp(s.Begin), trace.WithSpanKind(s.Kind), trace.WithAttributes(append(attributes(s.Attrs),
		attribute.String("fairlead.tenant.id", tr.key.Tenant.String()), attribute.String("fairlead.fleet.id", tr.key.Fleet.String()),
		attribute.Int64("fairlead.revision", int64(tr.revision)))...)}
	if s.Caller.context.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: s.Caller.context}))
	}
	_, span := tr.tracer.spans.Start(ctx, s.Name, options...)
	if s.Failed != "" {
		span.SetStatus(codes.Error, s.Failed)
	}
	if s.End.Before(s.Begin) { // times of two clocks
		s.End = s.Begin
	}
	span.End(trace.WithTimestamp(s.End))
	return s.ID
}

// attributes are those of slog, as it has no others that are short: durations are told in milliseconds.
func attributes(of []slog.Attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(of)+3)
	for _, a := range of {
		switch v := a.Value.Resolve(); v.Kind() {
		case slog.KindInt64:
			out = append(out, attribute.Int64(a.Key, v.Int64()))
		case slog.KindBool:
			out = append(out, attribute.Bool(a.Key, v.Bool()))
		case slog.KindDuration:
			out = append(out, attribute.Float64(a.Key+"_ms", float64(v.Duration().Microseconds())/1000))
		default:
			out = append(out, attribute.String(a.Key, v.String()))
		}
	}
	return out
}

func drawn() (id ID) {
	binary.BigEndian.PutUint64(id[:], rand.Uint64()|1) //nolint:gosec // it is a name, and never zero
	return id
}

// given has the SDK take the ids that a span is given. It is also where a context has them.
type given struct{}

type ids struct {
	trace trace.TraceID
	span  ID
}

// NewIDs is the SDK's.
func (given) NewIDs(ctx context.Context) (trace.TraceID, ID) {
	is, _ := ctx.Value(given{}).(ids)
	return is.trace, is.span
}

// NewSpanID is the SDK's.
func (given) NewSpanID(ctx context.Context, _ trace.TraceID) ID {
	is, _ := ctx.Value(given{}).(ids)
	return is.span
}
