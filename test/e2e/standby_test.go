package e2e

import (
	"testing"

	"fairlead/internal/store/storetest"
	"fairlead/test/world"
)

// TestFleetsAreReadFromAStandby: an Envoy has all that is written, although the xDS server never reads a resource from the primary. It has it, too, when the standby
// stands still, is killed, and comes back, and after a server has started without it.
func TestFleetsAreReadFromAStandby(t *testing.T) {
	both(t, func(t *testing.T, delta bool) {
		const ofContent = "k.revision AS known"
		p := storetest.NewPair(t)
		w := world.NewOn(t, p.DB)
		xds := w.XDS("--read-database-url", p.Read)
		health := "http://" + xds.Logged("the ports are open", "health_address") + "/readyz"
		envoy := w.Envoy("n1", xds.Address, delta)
		w.AwaitLive("n1")
		n := 0
		change := func() {
			t.Helper()
			n++
			timeout := sprintf("%ds", n)
			w.AwaitDelivered(w.Put(world.Cluster("a", timeout)), 1)
			if got := activeClusters(t, envoy)["a"]; got != timeout {
				t.Errorf("the Envoy has a timeout of %s, and not of %s", got, timeout)
			}
			if code, body := world.Get(health); code != 200 {
				t.Errorf("the server is not ready: %s", body)
			}
		}
		for range 3 {
			change()
		}
		primary, standby := p.Asked(t, ofContent)
		if primary != 0 || standby < 4 {
			t.Errorf("resources were read from the primary %d times, from the standby %d times", primary, standby)
		}
		p.OnStandby(t, "SELECT pg_wal_replay_pause()")
		change()
		p.OnStandby(t, "SELECT pg_wal_replay_resume()")
		p.Standby.Kill()
		change()
		world.Must(t, p.Standby.Restart(t.Context()))
		now, before := p.Asked(t, ofContent)
		if now < 2 {
			t.Errorf("resources were read from the primary %d times", now)
		}
		world.Eventually(t, 2*world.Soon, "the standby is not read again", func() bool {
			change()
			_, standby = p.Asked(t, ofContent)
			return standby > before
		})
		p.Standby.Kill()
		w.Envoy("n2", w.XDS("--read-database-url", p.Read).Address, delta)
		w.AwaitLive("n2")
	})
}
