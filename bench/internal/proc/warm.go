package proc

import (
	"fmt"
	"os"
	"syscall"
)

// Warm writes to n bytes of memory and gives them back. Of a virtual machine the host takes back what has been free for some seconds, and a
// page that it has to give again takes about eight times as long as one that the machine still has: without this the server that touches
// more memory, or that comes first after a pause, would be measured for that.
func Warm(n int) error {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return fmt.Errorf("get %d bytes of memory: %w", n, err)
	}
	for i := 0; i < n; i += os.Getpagesize() {
		b[i] = 1
	}
	return syscall.Munmap(b)
}
