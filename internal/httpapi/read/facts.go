package read

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"fairlead/internal/compute"
	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

const (
	// mostFacts is how many resources are kept with their facts, of all fleets together.
	mostFacts = 100_000
	// checkedFor is for how long a check counts if nothing has changed but the time, against which certificates and credentials are held.
	checkedFor = 10 * time.Second
)

// fleetReader reads whole fleets. A store does.
type fleetReader interface {
	Stands(ctx context.Context, t fleet.TenantID, id fleet.ID) (store.Seen, error)
	Overview(ctx context.Context, t fleet.TenantID, id fleet.ID, after fleet.Revision, f func(store.Resource)) (store.Seen, error)
}

// Book keeps the facts of resources, so that only what changed is read again, and nothing where nothing did.
type Book struct {
	turns *compute.Pool

	mu     sync.Mutex // guards fleets and kept
	fleets map[fleet.Key]knownFacts
	kept   int // resources and findings, in all fleets
}

// knownFacts are a fleet's resources where it stood there, and the facts of their contents. They are shared: nobody changes them.
type knownFacts struct {
	at        store.Seen
	resources []findings.Resource
	facts     map[content]*resource.Facts
	check     *Check // of them, the last one; nil: there was none
}

// Checked is what was found in a fleet, at a revision. It is shared: nobody changes it.
type Checked struct {
	Found                   []findings.Finding
	Errors, Warnings, Infos int // of found
	At                      fleet.Revision
}

// Check is what was found in what.
type Check struct {
	In  findings.Fleet // without Now and Step
	Out Checked
	At  time.Time
}

// size is what of it is counted.
func (k knownFacts) size() int {
	n := len(k.resources)
	if k.check != nil {
		n += len(k.check.Out.Found)
	}
	return n
}

// content is what facts depend on.
type content struct {
	t       fleet.Type
	version string
}

// NewBook reads fleets when it is their turn.
func NewBook(turns *compute.Pool) *Book {
	return &Book{turns: turns, fleets: map[fleet.Key]knownFacts{}}
}

// Read returns the fleet's resources with their facts, and of which revision they are. It calls begin when it has its
// turn: what was written before that is in what it returns.
func (b *Book) Read(ctx context.Context, reader fleetReader, k fleet.Key, begin func()) ([]findings.Resource, fleet.Revision, error) {
	turn, err := b.turns.Enter(ctx, k.Tenant, compute.Large)
	if err != nil {
		return nil, 0, err
	}
	defer turn.Leave()
	begin()
	b.mu.Lock()
	old, again := b.fleets[k]
	b.mu.Unlock()
	if again {
		at, err := reader.Stands(ctx, k.Tenant, k.Fleet)
		if err != nil {
			return nil, 0, err //nolint:wrapcheck // it says which fleet
		}
		if at == old.at {
			return old.resources, at.Revision, nil
		}
	}
	now, complete, err := b.readAfter(ctx, reader, k, old, again)
	if err == nil && !complete { // a failover has taken revisions back
		now, _, err = b.readAfter(ctx, reader, k, knownFacts{}, false)
	}
	if err != nil {
		return nil, 0, err
	}
	b.keep(k, now)
	return now.resources, now.at.Revision, nil
}

// readAfter reads what changed after what is known. It is not complete if something was neither
// known nor read.
func (b *Book) readAfter(ctx context.Context, reader fleetReader, k fleet.Key, old knownFacts, again bool) (now knownFacts, complete bool, err error) {
	after := fleet.Revision(-1)
	if again {
		after = old.at.Revision
	}
	now.facts, complete = make(map[content]*resource.Facts, len(old.facts)), true
	now.at, err = reader.Overview(ctx, k.Tenant, k.Fleet, after, func(r store.Resource) {
		key := content{r.Type, r.Version}
		facts := old.facts[key]
		switch {
		case r.Type == fleet.Secret:
			facts = FactsOfSecret(r)
		case r.Body != nil:
			facts = FactsOf(r)
			now.facts[key] = facts
		case facts == nil:
			complete = false
		default:
			now.facts[key] = facts
		}
		now.resources = append(now.resources, findings.Resource{
			Ref: fleet.Ref{Type: r.Type, Name: r.Name}, Variant: r.Variant, Selector: r.Selector, Priority: r.Priority, Facts: facts, Values: ValuesIn(r.Type, r.Summary), SealedFor: SealedFor(r.Type, r.Summary),
			ByName: r.Derived.ByName,
		})
	})
	return now, complete, err //nolint:wrapcheck // it says which fleet
}

// keep makes room by forgetting other fleets. One that is too large by itself is read each time.
func (b *Book) keep(k fleet.Key, now knownFacts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.put(k, now)
}

func (b *Book) put(k fleet.Key, now knownFacts) {
	b.forget(k)
	if now.size() > mostFacts {
		return
	}
	for other := range b.fleets {
		if b.kept+now.size() <= mostFacts {
			break
		}
		b.forget(other)
	}
	b.fleets[k] = now
	b.kept += now.size()
}

// Checked returns what was found the last time, if that was in the same.
func (b *Book) Checked(k fleet.Key, in findings.Fleet) (out Checked, again bool) {
	b.mu.Lock()
	last := b.fleets[k].check
	b.mu.Unlock()
	if last == nil || time.Since(last.At) > checkedFor || !reflect.DeepEqual(last.In, in) {
		return Checked{}, false
	}
	return last.Out, true
}

// KeepChecked keeps what was found in a fleet beside its facts, as long as these are kept.
func (b *Book) KeepChecked(k fleet.Key, c Check) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, known := b.fleets[k]
	if now.check = &c; known && now.size() <= mostFacts {
		b.put(k, now)
	}
}

func (b *Book) forget(k fleet.Key) {
	b.kept -= b.fleets[k].size()
	delete(b.fleets, k)
}

// FactsOf reads a body. Of one that cannot be read, as it is of a newer server, what that has stored
// beside it counts.
func FactsOf(r store.Resource) *resource.Facts {
	facts, err := resource.FactsOf(r.Type, r.Body)
	if err != nil {
		facts = resource.FactsOfStored(r.Derived, "", "", time.Time{})
	}
	return &facts
}

// FactsOfSecret reads what is stored beside a Secret: its content is sealed.
func FactsOfSecret(r store.Resource) *resource.Facts {
	var s oapi.SecretSummary
	_ = json.Unmarshal(r.Summary, &s) // else nothing is known of it
	facts := resource.FactsOfStored(r.Derived, s.Kind, orZero(s.Subject), orZero(s.NotAfter))
	return &facts
}
