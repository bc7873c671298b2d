package xds

import (
	"sync"

	"fairlead/internal/fleet"
	"fairlead/internal/planner"
)

// namesKept counts what the names take that streams ask for and that no fleet accounts for. Of one stream they are bounded by its limits, but a tenant
// has thousands of streams, and one node token opens as many. What is beyond is told not to exist, as what is beyond a stream's own limits.
// Streams that ask for the same names share them, and they count once.
type namesKept struct {
	mu      sync.Mutex // guards tenants and what is in them
	tenants map[fleet.TenantID]*tenantNames
}

type tenantNames struct {
	bytes int
	subs  map[*planner.Subscription]*keptNames
}

// keptNames are those of a subscription, as they were when it came.
type keptNames struct{ streams, bytes int }

// nameCost is about what a name takes that a stream keeps, its own bytes apart.
const nameCost = 256

// room reports whether the tenant's streams may keep more names, of so many bytes.
func (k *namesKept) room(id fleet.TenantID, most int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.tenants[id]
	return t == nil || t.bytes < most
}

// of returns what is kept of a tenant. k.mu is held.
func (k *namesKept) of(id fleet.TenantID) *tenantNames {
	t := k.tenants[id]
	if t == nil {
		t = &tenantNames{subs: map[*planner.Subscription]*keptNames{}}
		if k.tenants == nil {
			k.tenants = map[fleet.TenantID]*tenantNames{}
		}
		k.tenants[id] = t
	}
	return t
}

// queued notes that so many bytes more, or fewer, wait to be looked up.
func (k *namesKept) queued(id fleet.TenantID, more int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.of(id)
	t.bytes += more
	k.forget(id, t)
}

// known counts one more stream with a subscription, if there is one that has it.
func (k *namesKept) known(id fleet.TenantID, s *planner.Subscription) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.tenants[id]; t != nil && t.subs[s] != nil {
		t.subs[s].streams++
		return true
	}
	return false
}

// add counts one more stream with a subscription, whose names take so many bytes.
func (k *namesKept) add(id fleet.TenantID, s *planner.Subscription, bytes int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.of(id)
	if t.subs[s] == nil {
		t.subs[s] = &keptNames{bytes: bytes}
		t.bytes += bytes
	}
	t.subs[s].streams++
}

// drop counts one stream less.
func (k *namesKept) drop(id fleet.TenantID, s *planner.Subscription) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.of(id)
	kept := t.subs[s]
	if kept.streams--; kept.streams == 0 {
		delete(t.subs, s)
		t.bytes -= kept.bytes
	}
	k.forget(id, t)
}

func (k *namesKept) forget(id fleet.TenantID, t *tenantNames) {
	if t.bytes == 0 && len(t.subs) == 0 {
		delete(k.tenants, id)
	}
}

// countNames brings what is kept of the stream up to date, after a request of a type.
func (st *stream) countNames(t fleet.Type) {
	if old, next := st.counted.subs[t], st.client.Subscription(t); next != old {
		if next != nil && !st.srv.names.known(st.id.Key.Tenant, next) {
			n, bytes := st.client.Unknown(t, st.att.Current())
			st.srv.names.add(st.id.Key.Tenant, next, nameCost*n+bytes)
		}
		if old != nil {
			st.srv.names.drop(st.id.Key.Tenant, old)
		}
		st.counted.subs[t] = next
	}
	if queued := nameCost*len(st.strays.queue) + st.strays.queued; queued != st.counted.queued {
		st.srv.names.queued(st.id.Key.Tenant, queued-st.counted.queued)
		st.counted.queued = queued
	}
}

// uncountNames takes what is kept of the stream back.
func (st *stream) uncountNames() {
	for i, old := range st.counted.subs {
		if old != nil {
			st.srv.names.drop(st.id.Key.Tenant, old)
			st.counted.subs[i] = nil
		}
	}
	st.srv.names.queued(st.id.Key.Tenant, -st.counted.queued)
	st.counted.queued = 0
}

// countedNames is what is kept of a stream as it is counted.
type countedNames struct {
	subs   [fleet.NumTypes]*planner.Subscription
	queued int
}
