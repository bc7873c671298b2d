package resource

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/fleet"
)

// maxValue bounds one resource, as bytes of its message.
const maxValue = 1 << 20

// Config is what a Compiler needs.
type Config struct {
	// VersionKey is the installation's secret of 32 bytes from which versions and hashes
	// of Secrets are made, with a key for each tenant. Without it Secrets cannot be compiled; all else can.
	VersionKey []byte
	// LogPaths are where a proxy may write logs without a guard rule that says otherwise, in
	// the form of DefaultLogPaths; nil is those.
	LogPaths []string
}

// Compiler checks documents and makes of them what is stored. It is safe for concurrent
// use.
type Compiler struct {
	versionKey []byte
	logPaths   []string
}

// NewCompiler returns a Compiler.
func NewCompiler(c Config) *Compiler {
	if c.LogPaths == nil {
		c.LogPaths = DefaultLogPaths()
	}
	return &Compiler{versionKey: slices.Clone(c.VersionKey), logPaths: slices.Clone(c.LogPaths)}
}

// LogPaths are where a proxy may write logs without a guard rule that says otherwise.
func (c *Compiler) LogPaths() []string { return slices.Clone(c.logPaths) }

// Compiled is a document that Envoy can be expected to take.
type Compiled struct {
	Document
	Value     []byte   // the message's bytes, deterministic; of a Secret the plaintext
	Version   string   // SEMANTICS 1.1
	DocHash   [32]byte // SEMANTICS 1.2
	BodyHash  [32]byte // the address of the stored body
	Derived   fleet.Derived
	Secret    *SecretSummary // of a Secret: what may be shown of it
	Sensitive bool           // of a Secret: Value must be sealed before it is stored
	Warnings  []FieldError
	Guarded   []Guarded // where it has what a guard rule names; who may write that is not decided here
	Uses      []Use     // where it uses Secrets; likewise
	// Placeholders are the texts of Body in which values of the fleet stand.
	Placeholders Placeholders

	mentions []mention
}

// Pointer tells where in the document that was sent a resource is named first, as RFC 6901; of
// one that it does not name it is the document's own place.
func (out *Compiled) Pointer(r fleet.Ref) string {
	for _, m := range out.mentions {
		if m.Ref == r {
			return m.at.String()
		}
	}
	return out.root().String()
}

// Compile decodes the document's body strictly, checks it and everything that is nested
// in it against the constraints of Envoy's API and against what Envoy is known to
// refuse, and derives what is stored with it. All errors are reported at once, where the
// body can be decoded at all; the error is Errors, or fleet.ErrUnavailable for a Secret
// without a version key.
//
// The name inside the body must be there and be the document's, of a virtual host too:
// a client finds a resource by the one and removes it by the other.
func (c *Compiler) Compile(key fleet.Key, d Document) (Compiled, error) {
	if d.Type == fleet.Secret && len(c.versionKey) == 0 {
		return Compiled{}, errNoVersionKey
	}
	var r reader
	r.name(d.Name, d.field("name"))
	r.ttlRange(d.TTL, d.field("ttl"))
	r.variants(&d, d.root())
	r.delivery(&d, d.root())
	if err := r.err(); err != nil { // a Document that no parser made
		return Compiled{}, err
	}
	root, err := scan(d.Body)
	if err != nil {
		return Compiled{}, rebase(err, d.body())
	}
	filled, body, err := d.fill(root)
	if err != nil {
		return Compiled{}, err
	}
	if len(filled.texts) > 0 {
		if root, err = scan(body); err != nil {
			return Compiled{}, rebase(err, d.body())
		}
	}
	m, err := decode(d.Type, body, root, d.body())
	if err != nil {
		return Compiled{}, err
	}
	if size := proto.Size(m.Interface()); size > maxValue { // before anything goes through it
		return Compiled{}, fail(d.body(), codeLimit, "the resource is %d bytes as a message: one may have %d", size, maxValue)
	}
	out := Compiled{Document: d}
	if out.Placeholders, err = filled.placeholders(m.Descriptor(), root); err != nil {
		return Compiled{}, err
	}
	if err := out.check(m, place{root, d.body()}, guard{logPaths: c.logPaths, privateClusters: d.Private}); err != nil {
		return Compiled{}, err
	}
	return c.finish(key, out, m, place{root, d.body()})
}

// check runs every check over the message and collects on the way references and what g
// looks for.
func (out *Compiled) check(m protoreflect.Message, p place, g guard) error {
	typed := typedStructs{}
	at := pointers{room: pointersBase + 4*proto.Size(m.Interface()), whole: p.at}
	d, u := deriver{report: report{typed: typed}}, uses{typed: typed, at: at}
	g.typed, g.at = typed, at
	var ended error
	err := walk(m, p.n, p.at, true, func(m protoreflect.Message, n *node, at *path, root bool) {
		if out.Step != nil && ended == nil {
			ended = out.Step()
		}
		if d.full() || ended != nil {
			return
		}
		here := place{n, at}
		if root {
			d.constraints(m, n, at)
		}
		d.rules(out.Type, m, here)
		d.typedRules(out.Type, m, here)
		d.keys(out.Type, m, here)
		d.pems(m, here)
		g.message(m, here, root)
		d.message(m, here)
		u.visit(m, n, at, root)
		if v, ok := m.Interface().(*core.AsyncDataSource); ok && v.GetRemote() != nil {
			out.warn(here.to(m, "remote").at, codeRemote, "Envoy ACKs this before it has fetched the code, and puts it into force only then, or when its attempts have failed: "+
				"a receipt does not tell whether the code is there")
		}
		out.remark(m, here)
		if _, fits := typed.of(m); warnUnchecked[m.Descriptor().FullName()] && !fits {
			out.warn(at, codeUnchecked, "the content of a %s is not checked: write the message itself, with its \"@type\"", m.Descriptor().Name())
		}
	})
	if err = cmp.Or(ended, err); err != nil {
		return err
	}
	d.innerName(out.Type, out.Name, m, p)
	d.hostName(&out.Document, m, p)
	if err := d.err(); err != nil {
		return err
	}
	out.Derived, out.mentions, out.Guarded = d.derived(m), d.found, g.found
	out.Derived.ByName = out.ByName
	out.Uses = u.found
	return nil
}

// warnUnchecked are messages that carry an extension's configuration in a form without
// a schema.
var warnUnchecked = map[protoreflect.FullName]bool{
	"xds.type.v3.TypedStruct":  true,
	"udpa.type.v1.TypedStruct": true,
}

// finish makes bytes, versions and hashes of a message that is good.
func (c *Compiler) finish(key fleet.Key, out Compiled, m protoreflect.Message, p place) (Compiled, error) {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m.Interface())
	if err != nil {
		return Compiled{}, fail(p.at, codeValue, "the message cannot be encoded")
	}
	var hmacKey []byte
	if s, ok := m.Interface().(*tls.Secret); ok {
		out.Sensitive = true
		if hmacKey, err = secretKey(c.versionKey, key, out.Variant); err != nil {
			return Compiled{}, err
		}
		if out.Secret, err = summarize(s, p); err != nil {
			return Compiled{}, err
		}
	}
	out.Value = value
	out.Version = version(hmacKey, value, out.TTL)
	out.DocHash = docHash(hmacKey, out.Document, out.Placeholders, value)
	out.BodyHash = bodyHash(hmacKey, key.Fleet, out.Document, value)
	out.warnTTL()
	return out, nil
}

// warnTTL says whom the ttl reaches. Who reads it in an incident has to know which
// proxies drop the resource, and that the others will not.
func (out *Compiled) warnTTL() {
	switch {
	case out.TTL == 0:
	case !out.Type.Expires():
		out.warn(out.field("ttl"), codeTTLNoEffect, "Envoy ignores the ttl of a resource of type %s: it is not sent, and the resource never expires", out.Type)
	default:
		out.warn(out.field("ttl"), codeTTLDeltaOnly, "the ttl goes to Envoy over delta xDS, and to clients that declare xds.config.supports-resource-ttl: "+
			"they drop the resource when no xDS server has renewed it for that long; an Envoy over state-of-the-world xDS is never sent it, as it crashes when one expires, and keeps the resource")
	}
}

func (out *Compiled) warn(at *path, code, format string, args ...any) {
	r := report{errs: out.Warnings}
	r.add(at, code, format, args...)
	out.Warnings = r.errs
}

// nameKeys returns the spellings of the field that holds a message's own name.
func nameKeys(t fleet.Type) []string {
	if t == fleet.Endpoint {
		return []string{"cluster_name", "clusterName"}
	}
	return []string{"name"}
}

// innerName checks the name inside the message. Envoy keeps a resource under the name
// inside and is told to remove it under the name outside. Of a virtual host too, seen
// with 1.40: one whose names differ is not removed by either, and of two that are equal
// inside the first is dropped silently.
func (r *report) innerName(t fleet.Type, name string, m protoreflect.Message, p place) {
	field := protoreflect.Name(nameKeys(t)[0])
	inner := m.Get(m.Descriptor().Fields().ByName(field)).String()
	at := p.to(m, field).at
	switch {
	case inner == "":
		r.add(at, codeRequired, "the message must hold its name: write the document's name here as well")
	case inner != name:
		r.add(at, codeNameMismatch, "the name inside the message differs from the resource's name, %q", name)
	}
}

// hostName checks the form of a virtual host's name. Envoy gives the virtual host to the
// route whose name stands before the last slash; the route's own name may hold slashes.
func (r *report) hostName(d *Document, m protoreflect.Message, p place) {
	if d.Type != fleet.VirtualHost {
		return
	}
	if i := strings.LastIndexByte(d.Name, '/'); i > 0 && i < len(d.Name)-1 {
		return
	}
	at := d.field("name")
	if d.bare {
		at = p.to(m, "name").at
	}
	host := strings.Trim(d.Name, "/")
	if host == "" {
		host = "host"
	}
	r.add(at, codeNameForm, "a virtual host is named <route>/<host>, such as %q: what stands before the last / names the route that it "+
		"belongs to, and without one Envoy takes it and never uses it", "my-route/"+host)
}

// rebase puts errors of a part below the place where the part stands.
func rebase(err error, at *path) error {
	var errs Errors
	if !errors.As(err, &errs) {
		return err
	}
	out := slices.Clone(errs)
	for i := range out {
		out[i].Pointer = at.String() + out[i].Pointer
	}
	return out
}
