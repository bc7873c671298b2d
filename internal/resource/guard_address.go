package resource

import (
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// AdminPort is where Envoy's admin interface listens unless it is told otherwise.
const AdminPort = 9901

// MaxLocalPorts is how many ports of its proxies' own machine a fleet opens at most.
const MaxLocalPorts = 100

// address looks at a message if it is an address: where the proxy connects to, not where
// it listens or from where it connects.
func (g *guard) address(m protoreflect.Message, p place) {
	if socket, at, ok := socketOf(m, p); ok {
		fields := socket.Descriptor().Fields()
		host := fields.ByName("address")
		port := uint32(socket.Get(fields.ByName("port_value")).Uint()) //nolint:gosec // an uint32
		g.dial(socket.Get(host).String(), port, at.to(socket, host.Name()).at)
	}
}

// socketOf is the address of an IP, in whatever holds it.
func socketOf(m protoreflect.Message, p place) (protoreflect.Message, place, bool) {
	switch m.Descriptor().FullName() {
	case "envoy.config.core.v3.Address":
		field := m.Descriptor().Fields().ByName("socket_address")
		return m.Get(field).Message(), p.to(m, field.Name()), true
	case "envoy.config.core.v3.SocketAddress":
		return m, p, true
	}
	return nil, p, false
}

// healthPort looks at the other port at which an endpoint is asked for its health: a
// request of any path goes there.
func (g *guard) healthPort(m protoreflect.Message, p place) {
	fields := m.Descriptor().Fields()
	checks := m.Get(fields.ByName("health_check_config")).Message()
	portField := checks.Descriptor().Fields().ByName("port_value")
	port := uint32(checks.Get(portField).Uint()) //nolint:gosec // an uint32
	if port == 0 {
		return
	}
	at := p.to(m, "health_check_config").to(checks, portField.Name()).at
	addresses := []protoreflect.Message{m.Get(fields.ByName("address")).Message(), checks.Get(checks.Descriptor().Fields().ByName("address")).Message()}
	more := m.Get(fields.ByName("additional_addresses")).List()
	for i := range more.Len() {
		other := more.Get(i).Message()
		addresses = append(addresses, other.Get(other.Descriptor().Fields().ByName("address")).Message())
	}
	for _, a := range addresses {
		if socket, _, ok := socketOf(a, p); ok {
			g.dial(socket.Get(socket.Descriptor().Fields().ByName("address")).String(), port, at)
		}
	}
}

// port looks at a port at which the endpoints of a cluster are dialled beside their own. They may stand in
// another resource and change alone, so it counts as one of the proxy's own machine.
func (g *guard) port(port uint32, at *path) { g.dial("localhost", port, at) }

// schemes of what a text names: by what else than a name or an address it leads.
var schemes = map[string]Rule{
	"unix": RulePipes, "unix-abstract": RulePipes, "vsock": RulePipes,
	"xds": RuleConfigSources, "google-c2p": RuleConfigSources, "google-c2p-experimental": RuleConfigSources,
	"dns": "", "ipv4": "", "ipv6": "", "http": "", "https": "",
}

// target looks at a text that names what the proxy connects to without a cluster. gRPC's
// names have many forms: dns://authority/host:port, ipv4:1.2.3.4:80,1.2.3.5:80, host:port,
// all with %-escapes. They end at NUL.
func (g *guard) target(text string, p place) {
	text, _, _ = strings.Cut(text, "\x00")
	scheme, rest, _ := strings.Cut(text, ":")
	rule, known := schemes[strings.ToLower(scheme)]
	switch {
	case rule != "":
		g.add(rule, p.at)
		return
	case !known && strings.HasPrefix(rest, "//"):
		g.add(RuleUnknown, p.at)
	}
	texts := []string{text}
	if _, err := strconv.ParseUint(rest, 10, 16); err != nil { // what follows a host is no host
		texts = append(texts, rest)
	}
	for _, s := range texts {
		for _, part := range strings.FieldsFunc(s, separates) {
			for _, one := range strings.FieldsFunc(unescaped(part), separates) { // gRPC tells addresses apart after it has read the escapes
				host, port := hostPort(one)
				g.dial(host, port, p.at)
			}
		}
	}
}

// separates reports whether addresses and the parts of a URI end at a character.
func separates(r rune) bool { return strings.ContainsRune(",/?#@", r) }

var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// unescaped reads the escapes that are whole and leaves all else as it stands, as gRPC does.
func unescaped(s string) string {
	return escape.ReplaceAllStringFunc(s, func(e string) string {
		n, _ := strconv.ParseUint(e[1:], 16, 8)
		return string([]byte{byte(n)})
	})
}

// hostPort takes a port off; 0 is none.
func hostPort(s string) (host string, port uint32) {
	if inside, after, ok := strings.Cut(strings.TrimPrefix(s, "["), "]"); ok {
		return inside, loosePort(strings.TrimPrefix(after, ":"))
	}
	if before, after, ok := strings.Cut(s, ":"); ok && strings.Count(s, ":") == 1 {
		return before, loosePort(after)
	}
	return s, 0
}

// loosePort reads a port as gRPC does, by C's functions: after spaces and a sign, up to what is no digit, and of what is
// larger than a port the last 16 bits. So 75437 is 9901.
func loosePort(s string) uint32 {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	digits := strings.TrimLeft(s, "+-")
	var n uint16
	for i := 0; i < len(digits) && '0' <= digits[i] && digits[i] <= '9'; i++ {
		n = n*10 + uint16(digits[i]-'0')
	}
	if strings.HasPrefix(s, "-") {
		n = -n
	}
	return uint32(n)
}

// dial looks at what the proxy connects to.
func (g *guard) dial(host string, port uint32, at *path) {
	switch whereIs(host) {
	case ownMachine:
		g.addPort(RuleLoopback, port, at)
	case linkLocal:
		g.add(RuleLinkLocal, at)
	}
	if port == AdminPort {
		g.addPort(RuleAdminPorts, port, at)
	}
}
