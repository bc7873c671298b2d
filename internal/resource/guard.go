package resource

import (
	"bytes"
	slashpath "path"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/redact"
)

// guard collects what the rules name on a walk over a resource. Its cost is that of the
// walk, and of what a TypedStruct holds once more.
type guard struct {
	logPaths []string
	// privateClusters are of the proxies' bootstrap, beside those that Fairlead puts there.
	privateClusters []string
	found           []Guarded
	count           map[Rule]int
	above           map[Rule]string // where each rule was met last
}

// add notes a place, unless it is inside of one that the rule has named already.
func (g *guard) add(r Rule, at *path) {
	if g.count[r] == maxGuarded {
		return
	}
	here := at.String()
	if last, met := g.above[r]; met && (here == last || strings.HasPrefix(here, last+"/")) {
		return
	}
	if g.count == nil {
		g.count, g.above = map[Rule]int{}, map[Rule]string{}
	}
	g.count[r]++
	g.above[r] = here
	g.found = append(g.found, Guarded{r, here})
}

// message looks at one message; walk brings it to every one. root is set for what an Any
// holds.
func (g *guard) message(m protoreflect.Message, p place, root bool) {
	md := m.Descriptor()
	if root {
		g.address(m, p)
	}
	g.asks(m, p)
	if r, ok := ruleOf(md.FullName()); ok {
		g.add(r, p.at)
	}
	if warnUnchecked[md.FullName()] {
		g.typedStruct(m, p)
		return
	}
	fields := md.Fields()
	for i := range fields.Len() {
		if fd := fields.Get(i); m.Has(fd) {
			g.field(m, fd, p)
		}
	}
}

// ruleOf finds the rule that names a message, by its name, its package or a word in it: a
// new message beside those that are known is guarded from its first day.
func ruleOf(name protoreflect.FullName) (Rule, bool) {
	if r, ok := guardedMessages[name]; ok {
		return r, true
	}
	for prefix, r := range guardedPackages {
		if strings.HasPrefix(string(name), prefix) {
			return r, true
		}
	}
	for word := range strings.SplitSeq(string(name.Parent()), ".") {
		if r, ok := guardedWords[word]; ok {
			return r, true
		}
	}
	return "", false
}

// field looks at a field that is set.
func (g *guard) field(m protoreflect.Message, fd protoreflect.FieldDescriptor, p place) {
	g.names(m, fd, p)
	name := fd.FullName()
	rule, judged := guardedFields[name]
	switch {
	case !judged:
	case rule == RuleFileLogs:
		if !g.logPath(m.Get(fd).String()) {
			g.add(rule, p.to(m, fd.Name()).at)
		}
	default:
		g.add(rule, p.to(m, fd.Name()).at)
	}
	switch inner := fd.Message(); {
	case fd.IsMap():
		if v := fd.MapValue().Message(); v != nil && v.FullName() == "google.protobuf.Any" {
			g.untyped(m, fd, p)
		}
		g.texts(m.Get(fd), fd, p.to(m, fd.Name()))
	case inner == nil:
		g.texts(m.Get(fd), fd, p.to(m, fd.Name()))
		g.target(m, fd, p)
	case inner.FullName() == "google.protobuf.Any":
		g.untyped(m, fd, p)
	case freeForm[inner.FullName()]:
		g.texts(m.Get(fd), fd, p.to(m, fd.Name()))
	case !notDialled[name]:
		each(m.Get(fd), fd, p.to(m, fd.Name()), func(v protoreflect.Value, p place) { g.address(v.Message(), p) })
	}
}

// freeForm are the messages that hold any JSON; walk does not go into them.
var freeForm = map[protoreflect.FullName]bool{"google.protobuf.Struct": true, "google.protobuf.Value": true, "google.protobuf.ListValue": true}

// untyped finds configuration that is packed as JSON without a type. An Envoy can be
// told to read it as whatever extension the name beside it names.
func (g *guard) untyped(m protoreflect.Message, fd protoreflect.FieldDescriptor, p place) {
	if metadataFields[fd.FullName()] {
		return
	}
	at := p.to(m, fd.Name())
	each(m.Get(fd), fd, at, func(v protoreflect.Value, at place) {
		url := v.Message().Get(v.Message().Descriptor().Fields().ByNumber(1)).String()
		if freeForm[protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:])] {
			g.add(RuleCode, at.at)
		}
	})
}

// each calls f with the value, or with each element of a list or a map.
func each(v protoreflect.Value, fd protoreflect.FieldDescriptor, p place, f func(protoreflect.Value, place)) {
	switch {
	case fd.IsList():
		for i := range v.List().Len() {
			f(v.List().Get(i), p.item(i))
		}
	case fd.IsMap():
		for _, k := range sortedKeys(v.Map()) {
			f(v.Map().Get(k), place{p.n.get(k.String()), p.at.member(k.String())})
		}
	default:
		f(v, p)
	}
}

// The commands by which the text of a format reads what a rule guards.
var (
	environmentCommand = []byte("%ENVIRONMENT(")
	fileCommand        = []byte("%FILE_CONTENT(")
)

// texts looks for them in every text: a format can stand in too many fields to list.
func (g *guard) texts(v protoreflect.Value, fd protoreflect.FieldDescriptor, p place) {
	each(v, fd, p, func(v protoreflect.Value, p place) {
		switch t := v.Interface().(type) {
		case string:
			g.text([]byte(t), p)
		case []byte:
			g.text(t, p)
		case protoreflect.Message:
			if freeForm[t.Descriptor().FullName()] {
				b, err := protojson.Marshal(t.Interface())
				if err != nil {
					g.add(RuleCode, p.at) // what cannot be read may be anything
				}
				g.text(b, p)
			}
		}
	})
}

func (g *guard) text(b []byte, p place) {
	if bytes.Contains(b, environmentCommand) {
		g.add(RuleEnvironment, p.at)
	}
	if bytes.Contains(b, fileCommand) {
		g.add(RuleFiles, p.at)
	}
}

// logPath reports whether a log may be written to a path. One that goes up is refused
// whole: where it leads depends on links that only the proxy's machine knows.
func (g *guard) logPath(file string) bool {
	if slices.Contains(strings.Split(file, "/"), "..") {
		return false
	}
	file = slashpath.Clean(file)
	return slices.ContainsFunc(g.logPaths, func(allowed string) bool {
		if strings.HasSuffix(allowed, "/") {
			return strings.HasPrefix(file, allowed)
		}
		return file == allowed
	})
}

// typedStruct goes into a message that is written as JSON with the URL of its type beside
// it. Of a type that is not linked in or takes anything, or where the content does not fit the
// type, nothing can be known: that counts as code.
func (g *guard) typedStruct(m protoreflect.Message, p place) {
	inner, fits := redact.Typed(m)
	if inner == nil {
		g.add(RuleCode, p.at)
		return
	}
	if !fits || freeForm[inner.Descriptor().FullName()] {
		g.add(RuleCode, p.at)
	}
	in := p.to(m, "value")
	if r, ok := ruleOf(inner.Descriptor().FullName()); ok {
		g.add(r, p.at) // the whole of it, type and all
	}
	if err := walk(inner, in.n, in.at, true, func(m protoreflect.Message, n *node, at *path, root bool) { g.message(m, place{n, at}, root) }); err != nil {
		g.add(RuleCode, p.at)
	}
}
