package xds

import "google.golang.org/grpc/mem"

// glance is how much of what comes is read into the connection's own buffer: an ACK, and all that a quiet connection
// says.
const glance = 512

// ReadOnReady waits for something to read, and only then takes a buffer of size bytes out of the pool, which gRPC gives
// back when it was read: nearly all connections are quiet nearly always, and would hold 32 KiB each. gRPC
// looks for this method by its signature; what it has itself for a *net.TCPConn is no use for a connection that is
// followed, or under TLS. It is called by one goroutine. After a read that filled the connection's own
// buffer the next goes into the pool's: who has begun to say much has more to say.
func (c *conn) ReadOnReady(size int, pool mem.BufferPool) (*[]byte, int, error) {
	if c.more {
		b := pool.Get(size)
		n, err := c.Read(*b)
		if n == 0 {
			pool.Put(b)
			b = nil
		}
		return b, n, err
	}
	n, err := c.Read(c.first[:min(size, glance)])
	if n == 0 {
		return nil, 0, err
	}
	b := pool.Get(size)
	copy(*b, c.first[:n])
	return b, n, err
}
