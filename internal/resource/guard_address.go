package resource

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// address looks at a message if it is an address: where the proxy connects to, not where
// it listens or from where it connects.
func (g *guard) address(m protoreflect.Message, p place) {
	socket := m
	switch m.Descriptor().FullName() {
	case "envoy.config.core.v3.Address":
		field := m.Descriptor().Fields().ByName("socket_address")
		p, socket = p.to(m, field.Name()), m.Get(field).Message()
	case "envoy.config.core.v3.SocketAddress":
	default:
		return
	}
	host := socket.Descriptor().Fields().ByName("address")
	g.host(socket.Get(host).String(), p.to(socket, host.Name()))
}

// target looks at the fields that hold, as a text, what the proxy connects to without a
// cluster.
func (g *guard) target(m protoreflect.Message, fd protoreflect.FieldDescriptor, p place) {
	if !dialledTexts[fd.FullName()] {
		return
	}
	each(m.Get(fd), fd, p.to(m, fd.Name()), func(v protoreflect.Value, p place) {
		scheme, rest, _ := strings.Cut(v.String(), ":")
		if scheme = strings.ToLower(scheme); scheme == "unix" || scheme == "unix-abstract" || scheme == "vsock" {
			g.add(RulePipes, p.at)
			return
		}
		if u, err := url.Parse(v.String()); err == nil && u.Hostname() != "" {
			g.host(u.Hostname(), p)
		}
		// gRPC's names have many forms: dns://authority/host:port, ipv4:1.2.3.4:80,1.2.3.5:80, host:port.
		for _, s := range []string{v.String(), rest} {
			for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == '/' }) {
				g.host(withoutPort(part), p)
			}
		}
	})
}

func withoutPort(s string) string {
	if inside, _, ok := strings.Cut(strings.TrimPrefix(s, "["), "]"); ok {
		return inside
	}
	if host, _, ok := strings.Cut(s, ":"); ok && strings.Count(s, ":") == 1 {
		return host
	}
	return s
}

// Names and addresses of metadata services that are not link-local.
var (
	metadataNames = map[string]bool{"metadata": true, "metadata.google.internal": true, "instance-data": true, "instance-data.ec2.internal": true}
	metadataHosts = map[netip.Addr]bool{
		netip.MustParseAddr("fd00:ec2::254"):   true, // AWS
		netip.MustParseAddr("168.63.129.16"):   true, // Azure
		netip.MustParseAddr("100.100.100.200"): true, // Alibaba
		netip.MustParseAddr("192.0.0.192"):     true, // Oracle
	}
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

// host looks at one host, by name or by address. A name that resolves to such an address
// is not found out: names mean something else on the proxy's machine.
func (g *guard) host(host string, p place) {
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "ip6-localhost" || host == "ip6-loopback":
		g.add(RuleLoopback, p.at)
		return
	case metadataNames[host]:
		g.add(RuleLinkLocal, p.at)
		return
	}
	a, ok := looseAddr(host)
	switch {
	case !ok:
	case a.IsLoopback() || a.IsUnspecified(): // Linux connects the unspecified address to itself
		g.add(RuleLoopback, p.at)
	case a.IsLinkLocalUnicast() || metadataHosts[a]:
		g.add(RuleLinkLocal, p.at)
	}
}

// looseAddr reads an address in every form that a resolver may take for one: 127.1,
// 0x7f000001 and 0177.0.0.1 are all 127.0.0.1. IPv4 inside of IPv6 is told as IPv4.
func looseAddr(s string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		a = a.Unmap().WithZone("")
		if nat64.Contains(a) {
			b := a.As16()
			a = netip.AddrFrom4([4]byte(b[12:]))
		}
		return a, true
	}
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		v, err := strconv.ParseUint(part, 0, 32) // decimal, 0x and 0, as inet_aton
		last := i == len(parts)-1
		if err != nil || !last && v > 255 || last && v>>(8*(5-len(parts))) > 0 {
			return netip.Addr{}, false
		}
		if last {
			sum += v
		} else {
			sum += v << (8 * (3 - i))
		}
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true //nolint:gosec // four bytes of 32 bits
}
