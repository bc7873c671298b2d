package door

import (
	"net"
	"net/netip"
)

// Source is what the connections of one peer have in common: an IPv4 address, or the /64 of an IPv6 one, of which any host
// has all. It is invalid if the address is none of IP: then nothing is bounded by it.
func Source(a net.Addr) netip.Prefix {
	if a, ok := a.(*net.TCPAddr); ok {
		return prefix(a.AddrPort().Addr())
	}
	return netip.Prefix{}
}

// SourceOf is the same for an address with a port, as net/http gives it.
func SourceOf(address string) netip.Prefix {
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix(a.Addr())
}

func prefix(ip netip.Addr) netip.Prefix {
	ip = ip.Unmap()
	bits := 32
	if ip.Is6() {
		bits = 64
	}
	p, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
