package run

import (
	"log/slog"
	"strings"
	"testing"
)

// TestT27_PlaintextIsAskedForByName: without a certificate nothing is served on an address that others reach, unless somebody asked for it.
func TestT27_PlaintextIsAskedForByName(t *testing.T) {
	t.Parallel()
	for address, loopback := range map[string]bool{"127.0.0.1:0": true, "[::1]:0": true, "localhost:0": true, "0.0.0.0:0": false, ":0": false, "10.0.0.1:0": false, "[::]:0": false} {
		for _, asked := range []bool{false, true} {
			c, err := TLS{AllowPlaintext: asked}.Open(address, slog.New(slog.DiscardHandler))
			if c != nil || (err == nil) != (loopback || asked) || err != nil && !strings.Contains(err.Error(), "--allow-plaintext") {
				t.Errorf("%s, asked for: %t: %v", address, asked, err)
			}
		}
	}
}
