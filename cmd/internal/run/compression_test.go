package run

import (
	"testing"

	"google.golang.org/grpc/encoding"
)

// TestT17_TheServerInflatesNothing: a compressor that any package of the server registers would let a
// message of 255 KiB become 256 MiB before its size is looked at.
func TestT17_TheServerInflatesNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gzip", "deflate", "snappy", "zstd"} {
		if encoding.GetCompressor(name) != nil {
			t.Errorf("a package of the server registers the compressor %s", name)
		}
	}
}
