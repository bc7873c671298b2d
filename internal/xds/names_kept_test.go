package xds_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/internal/fleet"
	"fairlead/internal/xds"
	"fairlead/internal/xds/xdstest"
)

// TestT40_NamesOfATenantAreBounded: each stream may ask for thousands of names that its fleet does not have, and one node token may open thousands of
// streams. What is beyond the tenant's room is told not to exist. What the fleet has is served, and there is room again when streams end.
func TestT40_NamesOfATenantAreBounded(t *testing.T) {
	for _, v := range []xdstest.Protocol{xdstest.DeltaADS, xdstest.SotWADS} {
		t.Run(v.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var told tellings
				w := xdstest.New(t, told.note, func(c *xds.Config) { c.Limits.TenantNames = 100 * 300 })
				w.Publish(xdstest.Put(fleet.Secret, "real", "1"))
				names := func(s int) (out []string) {
					for i := range 60 {
						out = append(out, fmt.Sprintf("s%d/%d", s, i))
					}
					return append(out, "real")
				}
				asks := func(s int) *xdstest.Client {
					c := w.Open(v, fmt.Sprint("n", s))
					c.Subscribe(fleet.Secret, names(s)...)
					return c
				}
				settle := func(c *xdstest.Client) (absent int) {
					t.Helper()
					sent := false
					for {
						r, more := c.NextOrQuiet()
						if !more {
							break
						}
						sent, absent = sent || r.Item("real") != nil, absent+len(r.Removed)
						c.Ack(r)
					}
					if !sent {
						t.Error("what is there was not sent")
					}
					return absent
				}
				crowded := func() (n int) {
					for _, line := range told.all() {
						if strings.Contains(line, "all nodes of the tenant") {
							n++
						}
					}
					return n
				}
				first, second := asks(1), asks(2)
				settle(first)
				settle(second)
				if n := crowded(); n != 0 {
					t.Fatalf("%d are told of too many names", n)
				}
				third := asks(3)
				if n := settle(third); crowded() == 0 || v.Delta && n != 60 {
					t.Errorf("the third stream's names: %d are told not to exist, %q", n, told.all())
				}
				w.Publish(xdstest.Put(fleet.Secret, "s3/1", "1"), xdstest.Put(fleet.Secret, "s1/1", "1"))
				first.Ack(first.Want("secrets s1/1@1")) // what was kept is sent when it comes to be there
				third.Subscribe(fleet.Secret, "s3/1")
				wants := func(c *xdstest.Client, name string) {
					t.Helper()
					for {
						r, more := c.NextOrQuiet()
						if !more {
							t.Errorf("%s was not sent", name)
							return
						}
						c.Ack(r)
						if r.Item(name) != nil {
							return
						}
					}
				}
				wants(third, "s3/1")
				first.Close()
				second.Close()
				synctest.Wait()
				before := crowded()
				settle(asks(4))
				if n := crowded() - before; n != 0 {
					t.Errorf("%d are told of too many names after there was room: %q", n, told.all())
				}
			})
		})
	}
}
