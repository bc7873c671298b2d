package door

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

func source(i int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 32)
}

// TestT16_WhatIsRememberedOfFloodsTakesNoRoomOfCalls, and the other way round: each of them has its own.
func TestT16_WhatIsRememberedOfFloodsTakesNoRoomOfCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSources(10, 0)
		for i := range maxSources {
			s.strike(source(i))
			s.call(source(i))
		}
		time.Sleep(2 * time.Second) // the calls bound nobody any more, the floods do
		s.call(source(maxSources))
		if l := s.calls.of[source(maxSources)]; l == nil {
			t.Error("a source that calls shares one bound with all others, and there is room")
		}
		s.strike(source(maxSources))
		if len(s.struck) != maxSources {
			t.Errorf("%d floods are remembered, want %d", len(s.struck), maxSources)
		}
		time.Sleep(struckFor + time.Second) // now it is the other way round
		for i := range maxSources {
			for range 100 {
				s.call(source(i))
			}
		}
		s.strike(source(maxSources))
		if _, struck := s.turn(source(maxSources)); !struck {
			t.Error("a flood is not remembered, and there is room")
		}
	})
}
