package xds

import (
	"bytes"
	"fmt"
	"time"
)

const markerPrefix = "epoch:"

// Marker is the string that a server puts into a changed resource, so that a client can
// tell when it learns of change n, which was made at t.
func Marker(n uint64, t time.Time) string {
	return fmt.Sprintf("%s%d:%d", markerPrefix, n, t.UnixNano())
}

// ScanMarkers returns the newest epoch of which a marker is in b; 0 when there is none.
func ScanMarkers(b []byte) (n uint64) {
	for {
		i := bytes.Index(b, []byte(markerPrefix))
		if i < 0 {
			return n
		}
		b = b[i+len(markerPrefix):]
		if epoch, rest, ok := digits(b); ok && epoch > n && len(rest) > 0 && rest[0] == ':' {
			n = epoch
		}
	}
}

func digits(b []byte) (n uint64, rest []byte, ok bool) {
	for len(b) > 0 && '0' <= b[0] && b[0] <= '9' {
		n, b, ok = n*10+uint64(b[0]-'0'), b[1:], true
	}
	return n, b, ok
}
