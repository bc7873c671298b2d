package world

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// AnyPort lets a server take a port by itself, and tell it in its log.
const AnyPort = "127.0.0.1:0"

var givenPorts sync.Map // of this process

// FreePort is FreePortOf 127.0.0.1.
func FreePort(t testing.TB) string {
	t.Helper()
	return FreePortOf(t, "127.0.0.1")
}

// FreePortOf returns an address of the host that nothing listens on, and that is given to
// nobody else: below the ports that the system takes for outgoing connections, of which one
// may come between this and its use.
func FreePortOf(t testing.TB, host string) string {
	t.Helper()
	for range 1_000 {
		port := 12_000 + rand.IntN(20_000)
		if _, taken := givenPorts.LoadOrStore(port, true); taken {
			continue
		}
		lis, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			continue
		}
		Must(t, lis.Close())
		return lis.Addr().String()
	}
	t.Fatal("no port is free")
	return ""
}
