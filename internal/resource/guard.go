package resource

import (
	"bytes"
	"maps"
	slashpath "path"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
)

// guard collects what the rules name on a walk over a resource. Its cost is that of the
// walk, and of what a TypedStruct holds once more.
type guard struct {
	logPaths []string
	typed    typedStructs
	// privateClusters are of the proxies' bootstrap, beside those that Fairlead puts there.
	privateClusters []string
	at              pointers
	found           []Guarded
	count           map[told]int
	ports           map[Rule]int    // how many ports were met
	above           map[told]string // where each was met last
}

// told is what is bounded on its own: a rule, and of its own machine each port, since each may be open or not.
type told struct {
	rule Rule
	port uint32
}

// add notes a place, unless it is inside of one that the rule has named already.
func (g *guard) add(r Rule, at *path) { g.addPort(r, 0, at) }

// addPort notes a place that leads to a port.
func (g *guard) addPort(r Rule, port uint32, at *path) {
	which := told{r, port}
	if g.count[which] == maxGuarded {
		return
	}
	here := at.String()
	last, met := g.above[which]
	switch {
	case met && (here == last || strings.HasPrefix(here, last+"/")):
		return
	case !met && port != 0 && g.ports[r] > MaxLocalPorts:
		return // one of those that are told is not open, as no fleet opens as many
	}
	if g.count == nil {
		g.count, g.ports, g.above = map[told]int{}, map[Rule]int{}, map[told]string{}
	}
	if !met {
		g.ports[r]++
	}
	g.count[which]++
	g.above[which] = here
	g.found = append(g.found, Guarded{r, g.at.of(at), port})
}

// message looks at one message; walk brings it to every one. root is set for what an Any
// holds.
func (g *guard) message(m protoreflect.Message, p place, root bool) {
	md := m.Descriptor()
	if root {
		g.address(m, p)
	}
	g.asks(m, p)
	if r := judgements().of(md).rule; r != "" {
		g.add(r, p.at)
	}
	if warnUnchecked[md.FullName()] {
		g.typedStruct(m, p)
		return
	}
	switch md.FullName() {
	case "envoy.config.endpoint.v3.Endpoint":
		g.healthPort(m, p)
	case "envoy.config.core.v3.GrpcService":
		g.initialMetadata(m, p)
	case "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig":
		if !m.Has(md.Fields().ByName("sds_config")) {
			g.add(RuleMachineIdentity, p.at) // a Secret of the bootstrap: what the proxy itself proves who it is with
		}
	}
	fields := md.Fields()
	for i := range fields.Len() {
		if fd := fields.Get(i); m.Has(fd) {
			g.field(m, fd, p)
		}
	}
}

// initialMetadata: a name that begins with a colon, such as ":path", ends Envoy's process with the first call
// (seen with 1.36, 1.38 and 1.40; elsewhere Envoy refuses such names).
func (g *guard) initialMetadata(m protoreflect.Message, p place) {
	fd := m.Descriptor().Fields().ByName("initial_metadata")
	each(m.Get(fd), fd, p.to(m, fd.Name()), func(v protoreflect.Value, p place) {
		h := v.Message()
		if key := h.Descriptor().Fields().ByName("key"); strings.HasPrefix(h.Get(key).String(), ":") {
			g.add(RuleKill, p.to(h, key.Name()).at)
		}
	})
}

// field looks at a field that is set.
func (g *guard) field(m protoreflect.Message, fd protoreflect.FieldDescriptor, p place) {
	g.names(m, fd, p)
	judged, at := judgements().fields[fd.FullName()], p.to(m, fd.Name())
	switch judged.class {
	case classRule:
		if judged.names(m.Get(fd), fd) {
			g.add(judged.rule, at.at)
		}
	case classLogPath:
		if !g.logPath(m.Get(fd).String()) {
			g.add(RuleFileLogs, at.at)
		}
	case classStateKey:
		if !harmlessState(m.Get(fd).String()) {
			g.add(RuleRequestDestination, at.at)
		}
	case classPort:
		g.port(uint32(m.Get(fd).Uint()), at.at) //nolint:gosec // a uint32
	case classDialled:
		if fd.Message() == nil {
			each(m.Get(fd), fd, at, func(v protoreflect.Value, p place) { g.target(v.String(), p) })
		}
	}
	inner := fd.Message()
	if fd.IsMap() {
		inner = fd.MapValue().Message()
	}
	switch {
	case inner != nil && inner.FullName() == "google.protobuf.Any":
		if judged.class != classMetadata {
			g.untyped(m, fd, at)
		}
	case inner == nil, fd.IsMap(), freeForm[inner.FullName()]:
		g.texts(m.Get(fd), fd, at)
	case judged.class != classListens: // an address of which nothing is said is dialled
		each(m.Get(fd), fd, at, func(v protoreflect.Value, p place) { g.address(v.Message(), p) })
	}
}

// names reports whether the rule of a field names the value that it has. A switch that is
// off is named by none.
func (j judgedField) names(v protoreflect.Value, fd protoreflect.FieldDescriptor) bool {
	switch {
	case j.value != "":
		e := fd.Enum().Values().ByNumber(v.Enum())
		return e != nil && string(e.Name()) == j.value
	case fd.Message() != nil && fd.Message().FullName() == "google.protobuf.BoolValue":
		return v.Message().Get(fd.Message().Fields().ByNumber(1)).Bool()
	}
	return true
}

// harmlessState reports whether nothing that Envoy has connects to where the object of this
// name in the filter state says. Names that are not Envoy's own are the author's.
func harmlessState(key string) bool {
	return harmlessStates[key] || !strings.HasPrefix(key, "envoy.")
}

var harmlessStates = map[string]bool{
	"envoy.network.upstream_server_name":             true,
	"envoy.network.upstream_subject_alt_names":       true,
	"envoy.network.application_protocols":            true,
	"envoy.tcp_proxy.disable_tunneling":              true,
	"envoy.tcp_proxy.per_connection_idle_timeout_ms": true,
	"envoy.ratelimit.hits_addend":                    true,
	"envoy.network.ip":                               true,
	"envoy.string":                                   true,
	"envoy.hashable_string":                          true,
}

// freeForm are the messages that hold any JSON; walk does not go into them.
var freeForm = map[protoreflect.FullName]bool{"google.protobuf.Struct": true, "google.protobuf.Value": true, "google.protobuf.ListValue": true}

// untyped finds configuration that is packed as JSON without a type. An Envoy can be
// told to read it as whatever extension the name beside it names.
func (g *guard) untyped(m protoreflect.Message, fd protoreflect.FieldDescriptor, at place) {
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

// command is one by which the text of a format reads what a rule guards.
type command struct {
	called, named []byte
	rule          Rule
}

var commands = []command{
	{[]byte("%ENVIRONMENT("), []byte(`"ENVIRONMENT"`), RuleEnvironment},
	{[]byte("%FILE_CONTENT("), []byte(`"FILE_CONTENT"`), RuleFiles},
}

// coalesce is the command whose argument is JSON that names others: %COALESCE({"operators": [{"command": ..., "param": ...}]})%.
var coalesce = []byte("%COALESCE(")

// texts looks for them in every text: a format can stand in too many fields to list.
func (g *guard) texts(v protoreflect.Value, fd protoreflect.FieldDescriptor, p place) {
	each(v, fd, p, func(v protoreflect.Value, p place) {
		switch t := v.Interface().(type) {
		case string:
			g.text([]byte(t), p)
		case []byte:
			g.text(t, p)
		case protoreflect.Message:
			switch free := t.Interface().(type) {
			case *structpb.Struct:
				g.freeText(structpb.NewStructValue(free), p)
			case *structpb.Value:
				g.freeText(free, p)
			case *structpb.ListValue:
				g.freeText(structpb.NewListValue(free), p)
			default:
				if freeForm[t.Descriptor().FullName()] {
					g.add(RuleCode, p.at) // what cannot be read may be anything
				}
			}
		}
	})
}

// freeText looks for them in the texts and the keys of JSON, each by itself.
func (g *guard) freeText(v *structpb.Value, p place) {
	g.text([]byte(v.GetStringValue()), p)
	for _, item := range v.GetListValue().GetValues() {
		g.freeText(item, p)
	}
	for _, key := range slices.Sorted(maps.Keys(v.GetStructValue().GetFields())) {
		g.text([]byte(key), p)
		g.freeText(v.GetStructValue().GetFields()[key], p)
	}
}

func (g *guard) text(b []byte, p place) {
	_, argument, coalesced := bytes.Cut(b, coalesce)
	escaped := coalesced && bytes.IndexByte(argument, '\\') >= 0 // by \u0045 any name can be written, and by \" another COALESCE
	for _, c := range commands {
		if bytes.Contains(b, c.called) || escaped || coalesced && bytes.Contains(argument, c.named) {
			g.add(c.rule, p.at)
		}
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
	inner, fits := g.typed.of(m)
	if inner == nil {
		g.add(RuleCode, p.at)
		return
	}
	if !fits || freeForm[inner.Descriptor().FullName()] {
		g.add(RuleCode, p.at)
	}
	in := p.to(m, "value")
	if r := judgements().of(inner.Descriptor()).rule; r != "" {
		g.add(r, p.at) // the whole of it, type and all
	}
	if err := walk(inner, in.n, in.at, true, func(m protoreflect.Message, n *node, at *path, root bool) { g.message(m, place{n, at}, root) }); err != nil {
		g.add(RuleCode, p.at)
	}
}
