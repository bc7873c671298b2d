package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
	"fairlead/internal/store/storetest"
)

// The way to the standby is cut without a word, before an answer and within one.
func TestAStandbyThatFallsSilent(t *testing.T) {
	p := setupPair(t, true)
	way := newProxy(t, p.servers.Read, nil)
	lift := way.stalling()
	defer lift()
	p.open(way.url, true)
	p.apply(put(fleet.Cluster, "b", "B"))
	load, _ := p.from(fleet.Position{})
	if got := p.readings(); got["read"] != 1 {
		t.Errorf("readings: %v", got)
	}
	p.apply(put(fleet.Cluster, "a", strings.Repeat("x", 64<<10)))
	storetest.Within(t, 2*time.Second, "a change beside a standby that stops within its answer", func() {
		if c, body := p.from(load.At); c.At.Revision != 2 || len(body) != 64<<10 {
			t.Errorf("revision 2 is %+v", c)
		}
	})
	lift()
	p.awaitRead(2)
	failed := p.readings()["failed"]
	way.darken()
	p.apply(put(fleet.Cluster, "a", "3"))
	storetest.Within(t, 2*time.Second, "a change beside a standby that does not answer", func() {
		if c, body := p.from(load.At); c.At.Revision != 3 || body != "3" {
			t.Errorf("revision 3 is %+v", c)
		}
	})
	if now := p.readings()["failed"]; failed == 0 || now == failed || p.log.count("it did not answer in time") != 2 {
		t.Errorf("%v readings failed, then %v:\n%s", failed, now, p.log.text.String())
	}
}

// A standby that answers row by row, and for ever so long, is waited for 3 s.
func TestAStandbyThatIsSlow(t *testing.T) {
	p := setupPair(t, true)
	way := newProxy(t, p.servers.Read, nil)
	p.open(way.url, true)
	p.apply(put(fleet.Cluster, "b", "B"))
	p.from(fleet.Position{})
	many := make([]store.ResourceChange, 500)
	for i := range many {
		many[i] = put(fleet.Cluster, fmt.Sprint("c", i), filler)
	}
	p.apply(many...)
	way.drips.Store(true)
	storetest.Within(t, 5*time.Second, "a load beside a standby that is slow", func() {
		if c, _ := p.from(fleet.Position{}); c.At.Revision != 2 || len(c.Rows) != 501 {
			t.Errorf("revision %d has %d resources", c.At.Revision, len(c.Rows))
		}
	})
	if got := p.readings(); got["read"] != 1 || got["failed"] != 1 {
		t.Errorf("readings: %v", got)
	}
}

// Of several hosts the standby is read, wherever it stands.
func TestOfSeveralHostsAStandbyIsRead(t *testing.T) {
	p := setupPair(t, false)
	p.apply(put(fleet.Cluster, "a", "1"))
	for i, url := range []string{both(t, p.servers.Node, p.servers.Read), both(t, p.servers.Read, p.servers.Node)} {
		p.open(url, false)
		if c, body := p.from(fleet.Position{}); c.At.Revision != 1 || body != "1" {
			t.Errorf("a load is %+v", c)
		}
		if primary, standby := p.servers.Asked(t, ofContent); primary != 0 || standby != i+1 {
			t.Errorf("asked of the primary %d times, of the standby %d times", primary, standby)
		}
	}
}
