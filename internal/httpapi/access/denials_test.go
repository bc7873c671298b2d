package access

import (
	"fmt"
	"testing"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// Whatever is denied, there is a bound on what is kept of it, of one tenant and of all.
func TestDenialsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	d := NewDenials(func() time.Time { return now }, new(DenialsRoom))
	loud := fleet.NewTenantID()
	for i := range 2 * mostDenialsOf {
		d.Add(DenialKey{Tenant: loud, Operation: fmt.Sprint(i), Code: "forbidden"}, store.Actor{Name: "loud"}, fleet.ID{})
	}
	due, lost := d.Due(false)
	var attempts int64
	for _, x := range due[loud] {
		attempts += x.Attempts
	}
	if len(due[loud]) != mostDenialsOf || attempts != 2*mostDenialsOf || lost != 0 {
		t.Errorf("%d events of %d attempts, %d lost", len(due[loud]), attempts, lost)
	}
	for range mostDenials {
		d.Add(DenialKey{Tenant: fleet.NewTenantID(), Operation: "x", Code: "forbidden"}, store.Actor{}, fleet.ID{})
	}
	if _, lost := d.Due(false); d.Len() != mostDenials || lost != mostDenialsOf {
		t.Errorf("%d are kept, %d lost", d.Len(), lost)
	}
	now = now.Add(DenialsTold)
	if d.Due(false); d.Len() != 0 || len(d.of) != 0 {
		t.Errorf("after the hour %d are kept, of %d tenants", d.Len(), len(d.of))
	}
}
