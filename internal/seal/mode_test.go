package seal

import (
	"io/fs"
	"testing"
)

// A key that root gives to a server is read by its group; any other by its owner alone.
func TestT27_WhoMayReadAKey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode      fs.FileMode
		owner, me int
		loose     bool
	}{
		{0o400, 65533, 65533, false}, {0o600, 65533, 65533, false}, {0o440, 65533, 65533, true}, {0o640, 65533, 65533, true}, {0o604, 65533, 65533, true},
		{0o440, 0, 65533, false}, {0o640, 0, 65533, false}, // a mounted Secret with fsGroup, a credential of systemd
		{0o460, 0, 65533, true}, {0o450, 0, 65533, true}, {0o444, 0, 65533, true}, {0o644, 0, 65533, true}, {0o441, 0, 65533, true},
		{0o440, 0, 0, true}, {0o400, 0, 0, false}, // as root its own
		{0o440, 65532, 65533, true}, // another server's
	} {
		if got := loose(c.mode, c.owner, c.me); got != c.loose {
			t.Errorf("mode %04o of %d for %d: %t, want %t", c.mode, c.owner, c.me, got, c.loose)
		}
	}
}
