package world

import (
	"net"
	"strconv"
	"testing"
)

// No port is given twice, and other processes take none of the blocks that these are from.
func TestPortsAreOfThisProcess(t *testing.T) {
	seen := map[string]bool{}
	for range blockSize + 10 {
		address := FreePort(t)
		if seen[address] {
			t.Fatalf("%s is given twice", address)
		}
		seen[address] = true
		_, port, err := net.SplitHostPort(address)
		Must(t, err)
		n, err := strconv.Atoi(port)
		Must(t, err)
		first := n - n%blockSize
		if n == first || n < firstPort || n >= firstPort+portBlocks*blockSize {
			t.Fatalf("%s is of no block", address)
		}
		if lis, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(first))); err == nil {
			_ = lis.Close()
			t.Fatalf("another process could take the block of %s", address)
		}
	}
}
