package xds

import "errors"

const (
	// largeMessage is the most bytes of a request that nobody counts. An Envoy of 14,000 endpoints needs no more, but one says more that comes back
	// after its own clients have made it ask for many names on demand: it forgets none.
	largeMessage = 4 << 20
	// mostLarge is how many bytes all messages may have together that are larger, while they come.
	mostLarge = 256 << 20
)

var errCrowded = errors.New("there is no room for one more large request")

// holdLarge takes room for the large messages that the connection has under way, and gives back what it had before. It reports whether there was
// as much. c.mu is held.
func (c *conn) holdLarge(size int) bool {
	more := size - c.large
	if more == 0 {
		return true
	}
	if all := c.srv.large.Add(int64(more)); more > 0 && all > mostLarge {
		c.srv.large.Add(int64(-more))
		return false
	}
	c.large = size
	return true
}
