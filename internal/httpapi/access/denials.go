package access

import (
	"sync"
	"sync/atomic"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

const (
	// DenialsTold is the time within which what is denied again is told as one number, at its end.
	DenialsTold   = time.Hour
	mostDenials   = 10_000 // kinds of denials that are counted at a time
	mostDenialsOf = 500    // the same, of one tenant
)

// DenialKey is what counts as the same denial, or the same reading.
type DenialKey struct {
	Tenant                fleet.TenantID
	Token                 fleet.CredentialID
	Kind, Operation, Code string
}

// denial is what was denied and is not told yet.
type denial struct {
	store.Denial
	begun time.Time // of the hour
	told  bool      // that it began
}

// DenialsRoom is what the Denials of a process have in common: how many kinds of them there are. The zero value is ready to use.
type DenialsRoom struct{ kinds atomic.Int64 }

// Denials counts denied requests, and what was read of secrets and of the audit itself, so that the audit can tell of each kind of them at once, and of what follows within the
// hour as one number, however many there are. It writes nothing by itself.
type Denials struct {
	Now func() time.Time

	room *DenialsRoom

	mu   sync.Mutex // guards what follows and what is in it
	all  map[DenialKey]*denial
	of   map[fleet.TenantID]int // keys of each tenant
	lost int64                  // that there was no room for
}

// NewDenials counts from none.
func NewDenials(now func() time.Time, room *DenialsRoom) *Denials {
	return &Denials{Now: now, room: room, all: map[DenialKey]*denial{}, of: map[fleet.TenantID]int{}}
}

// Add counts one. A tenant that has too many kinds of them gets the others as one, of no token and no operation.
func (d *Denials) Add(k DenialKey, actor store.Actor, f fleet.ID) {
	now := d.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	x := d.all[k]
	if x == nil && d.of[k.Tenant] >= mostDenialsOf-1 {
		k = DenialKey{Tenant: k.Tenant, Kind: k.Kind, Operation: "several", Code: "several"}
		actor, f = store.Actor{Name: "several", RequestID: actor.RequestID, IP: actor.IP}, fleet.ID{}
		x = d.all[k]
	}
	if x == nil {
		if d.room.kinds.Add(1) > mostDenials {
			d.room.kinds.Add(-1)
			d.lost++
			return
		}
		x = &denial{begun: now}
		x.Kind, x.Operation, x.Code = k.Kind, k.Operation, k.Code
		d.all[k] = x
		d.of[k.Tenant]++
	}
	if x.Attempts == 0 {
		x.First = now
	}
	x.Actor, x.Fleet, x.Last = actor, f, now
	x.Attempts++
}

// Due takes what is to be told now: of each kind the beginning, at the end of the hour what followed, and at the end of
// the process all.
func (d *Denials) Due(end bool) (out map[fleet.TenantID][]store.Denial, lost int64) {
	now := d.Now()
	out = map[fleet.TenantID][]store.Denial{}
	d.mu.Lock()
	defer d.mu.Unlock()
	lost, d.lost = d.lost, 0
	for k, x := range d.all {
		over := now.Sub(x.begun) >= DenialsTold
		if x.Attempts > 0 && (!x.told || over || end) {
			out[k.Tenant] = append(out[k.Tenant], x.Denial)
			x.told, x.Attempts = true, 0
		}
		if over {
			delete(d.all, k)
			d.room.kinds.Add(-1)
			if d.of[k.Tenant]--; d.of[k.Tenant] == 0 {
				delete(d.of, k.Tenant)
			}
		}
	}
	return out, lost
}

// Len is how many kinds of them are counted.
func (d *Denials) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all)
}
