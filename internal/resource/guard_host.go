package resource

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// location is where a host is, as far as its name or its address tells.
type location int

const (
	elsewhere  location = iota
	ownMachine          // the machine that connects
	linkLocal           // link-local, or a metadata service
)

// Names that are, and that end as, names of the machine itself: its own, and domains of which
// the owner has every name resolve to it.
var (
	ownNames = map[string]bool{
		"localhost": true, "localhost4": true, "localhost6": true, "localhost.localdomain": true, "localhost4.localdomain4": true, "localhost6.localdomain6": true,
		"ip6-localhost": true, "ip6-loopback": true, "loopback": true, "kubernetes.docker.internal": true,
		// The machine that runs the container: engines lead to what listens on its loopback too.
		"host.docker.internal": true, "gateway.docker.internal": true, "docker.for.mac.host.internal": true, "docker.for.win.host.internal": true, "docker.for.mac.localhost": true,
		"docker.for.win.localhost": true, "host.containers.internal": true, "host.minikube.internal": true, "host.lima.internal": true, "host.rancher-desktop.internal": true,
		"host.orb.internal": true, "host.k3d.internal": true,
	}
	ownDomains = []string{"localhost", "localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "localho.st", "local.gd", "fuf.me", "yoogle.com"}
)

// Names and addresses of metadata services that are not link-local.
var (
	metadataNames = map[string]bool{
		"metadata": true, "metadata.google.internal": true, "metadata.goog": true, "instance-data": true, "instance-data.ec2.internal": true,
		"metadata.azure.internal": true, "metadata.tencentyun.com": true, "metadata.platformequinix.com": true, "metadata.packet.net": true, "rancher-metadata": true,
		"api.metadata.cloud.ibm.com": true,
	}
	metadataHosts = map[netip.Addr]bool{
		netip.MustParseAddr("fd20:ce::254"):    true, // Google
		netip.MustParseAddr("fd00:42::42"):     true, // Scaleway
		netip.MustParseAddr("168.63.129.16"):   true, // Azure
		netip.MustParseAddr("100.100.100.200"): true, // Alibaba
		netip.MustParseAddr("192.0.0.192"):     true, // Oracle
	}
	// AWS: fd00:ec2::254 tells metadata, fd00:ec2::23 hands out the credentials of a pod.
	metadataNet = netip.MustParsePrefix("fd00:ec2::/32")
)

// Domains that resolve each name to the address that stands in it.
var embeddingDomains = []string{"nip.io", "sslip.io", "xip.io", "traefik.me", "backname.io", "ip.addr.tools", "nip.direct"}

// mapped reads a name as those do who take IDNs: other digits, letters and dots than ASCII's
// mean those.
var mapped = idna.New(idna.MapForLookup(), idna.StrictDomainName(false))

// whereIs looks at a host, by name or by address. What any other name resolves to is not
// found out: names mean something else on the proxy's machine.
func whereIs(host string) location {
	host = strings.ToLower(strings.TrimSpace(asResolved(host)))
	if ascii, _ := mapped.ToASCII(host); ascii != "" && strings.ContainsFunc(host, func(r rune) bool { return r >= 0x80 }) {
		host = ascii // also of a name with a fault: a resolver may see past it
	}
	host = strings.TrimRight(strings.Trim(host, "[]"), ".")
	if a, ok := looseAddr(host); ok {
		return addressAt(a)
	}
	switch {
	case ownNames[host] || below(host, ownDomains):
		return ownMachine
	case metadataNames[host]:
		return linkLocal
	}
	for _, a := range embedded(host) {
		if at := addressAt(a); at != elsewhere {
			return at
		}
	}
	return elsewhere
}

// asResolved is what a resolver reads of a host. Envoy hands it over as C does, so it ends at NUL. In a name of DNS a backslash stands before a
// character, or before the three digits of its number: metad\097ta is metadata.
func asResolved(host string) string {
	host, _, _ = strings.Cut(host, "\x00")
	if !strings.Contains(host, `\`) {
		return host
	}
	var b strings.Builder
	for i := 0; i < len(host); i++ {
		if host[i] == '\\' && i+1 < len(host) {
			i++
			if n, err := strconv.ParseUint(host[i:min(i+3, len(host))], 10, 8); err == nil && i+3 <= len(host) {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(host[i])
	}
	return b.String()
}

func below(host string, domains []string) bool {
	for _, d := range domains {
		if host == d || strings.HasSuffix(host, "."+d) {
			return true
		}
	}
	return false
}

func addressAt(a netip.Addr) location {
	switch {
	case a.IsLoopback() || a.IsUnspecified(): // Linux connects the unspecified address to itself
		return ownMachine
	case a.IsLinkLocalUnicast() || metadataHosts[a] || metadataNet.Contains(a) || carriesMetadata(a):
		return linkLocal
	}
	return elsewhere
}

// carriesMetadata reports whether 169.254.169.254 stands in an IPv6 address, as clouds have it in theirs (fd00:c1::a9fe:a9fe is Oracle's,
// fd00:a9fe:a9fe::1 Linode's), and NAT64 below a prefix of one's own.
func carriesMetadata(a netip.Addr) bool {
	b := a.As16()
	for i := 0; a.Is6() && i <= len(b)-4; i += 2 {
		if [4]byte(b[i:i+4]) == [4]byte{169, 254, 169, 254} {
			return true
		}
	}
	return false
}

// embedded are the addresses that stand in a name, as wildcard DNS services read them:
// 127.0.0.1 and 127-0-0-1 in any name, since such a service may have any; 7f000001 and IPv6
// with dashes in the names of those that are known.
func embedded(host string) (out []netip.Addr) {
	words := strings.FieldsFunc(host, func(r rune) bool { return r == '.' || r == '-' })
	for i := 0; i+4 <= len(words); i++ {
		if a, err := netip.ParseAddr(strings.Join(words[i:i+4], ".")); err == nil {
			out = append(out, a)
		}
	}
	if !below(host, embeddingDomains) {
		return out
	}
	for _, w := range words {
		if n, err := strconv.ParseUint(w, 16, 32); err == nil && len(w) == 8 {
			out = append(out, netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})) //nolint:gosec // four bytes of 32 bits
		}
	}
	for label := range strings.SplitSeq(host, ".") {
		if a, err := netip.ParseAddr(strings.ReplaceAll(label, "-", ":")); err == nil {
			out = append(out, within(a))
		}
	}
	return out
}

// Prefixes below which an IPv6 address leads to the IPv4 address that stands in it, and
// behind which of its bytes.
var carriers = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("::/96"), 12},           // IPv4-compatible
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12}, // translated
	{netip.MustParsePrefix("64:ff9b::/96"), 12},    // NAT64
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},  // NAT64 of one's own
	{netip.MustParsePrefix("2002::/16"), 2},        // 6to4
}

// within tells IPv4 inside of IPv6 as IPv4.
func within(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	for _, c := range carriers {
		if a.Is6() && c.prefix.Contains(a) && !a.IsLoopback() && !a.IsUnspecified() {
			b := a.As16()
			return netip.AddrFrom4([4]byte(b[c.at : c.at+4]))
		}
	}
	return a
}

// looseAddr reads an address in every form that a resolver may take for one: 127.1,
// 0x7f000001 and 0177.0.0.1 are all 127.0.0.1. IPv4 inside of IPv6 is told as IPv4.
func looseAddr(s string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return within(a), true
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
