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

// Ports are given from blocks below those that the system takes for outgoing connections.
const (
	firstPort  = 12_000
	portBlocks = 20
	blockSize  = 1_000
)

// givenPorts are those of this process. It listens on the first port of each of its blocks for as long as it lives: tests that run beside it
// have others, also while a server of either is gone.
var givenPorts struct {
	mu     sync.Mutex // guards what follows
	blocks []net.Listener
	next   int // of the last block, from its first port on
}

// FreePort is FreePortOf 127.0.0.1.
func FreePort(t testing.TB) string {
	t.Helper()
	return FreePortOf(t, "127.0.0.1")
}

// FreePortOf returns an address of the host that nothing listens on, and that is given to
// nobody else.
func FreePortOf(t testing.TB, host string) string {
	t.Helper()
	for {
		lis, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(nextPort(t))))
		if err != nil {
			continue
		}
		Must(t, lis.Close())
		return lis.Addr().String()
	}
}

// nextPort is one that this process has not given yet.
func nextPort(t testing.TB) int {
	t.Helper()
	g := &givenPorts
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.blocks) == 0 || g.next == blockSize {
		g.blocks, g.next = append(g.blocks, newBlock(t)), 1
	}
	g.next++
	return g.blocks[len(g.blocks)-1].Addr().(*net.TCPAddr).Port + g.next - 1
}

// newBlock listens on the first port of a block that no process has.
func newBlock(t testing.TB) net.Listener {
	t.Helper()
	for _, block := range rand.Perm(portBlocks) {
		if lis, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+block*blockSize))); err == nil {
			return lis
		}
	}
	t.Fatal("no port is free")
	return nil
}
