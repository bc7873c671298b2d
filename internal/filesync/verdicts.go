package filesync

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/internal/fleet"
)

// patience is how long Envoy may say nothing of a file of one resource before it counts as one that it does not read: something that
// names it was refused, or only Envoy's bootstrap would name it.
const patience = 2 * time.Second

// verdicts are what an Envoy makes of the files. nil asks none, and all is well that is written.
type verdicts struct {
	admin   *admin
	process process
	log     func(string)
	checks  map[string]*check // by file; what is not known yet
	known   map[string]string // the version_info of which is known that it was taken, or is not read, by file
	last    stats             // before what was written last
}

// check is what is to be found out of a file.
type check struct {
	ref     fleet.Ref // one of those in it
	version string
	before  stats // of before it was written
	since   time.Time
	looks   int
	told    bool
}

func newVerdicts(a *admin, p *process, log func(string)) *verdicts {
	if p == nil {
		return nil
	}
	return &verdicts{admin: a, process: *p, log: log, checks: map[string]*check{}, known: map[string]string{}}
}

// takesMore reports whether something may be written: what Envoy refuses is told by its counters, so one change after the other.
func (v *verdicts) takesMore() bool {
	if v == nil {
		return true
	}
	for _, c := range v.checks {
		if !c.told {
			return false
		}
	}
	return true
}

// before looks at Envoy's counters before files change.
func (v *verdicts) before(ctx context.Context) (err error) {
	if v == nil {
		return nil
	}
	if v.last, err = v.admin.stats(ctx); err != nil {
		return fmt.Errorf("%w: %w", errAdmin, err)
	}
	return nil
}

// wrote begins to find out what Envoy makes of files.
func (v *verdicts) wrote(c *content, changed []string, now time.Time) {
	if v == nil {
		return
	}
	for _, file := range changed {
		delete(v.checks, file)
		delete(v.known, file)
		if ref, ok := c.of(file); ok {
			v.checks[file] = &check{ref: ref, version: c.versions[file], before: v.last, since: now}
		}
	}
}

// settled reports whether it is known what Envoy makes of all that a response brought.
func (v *verdicts) settled(c *content, a *answer, now time.Time) bool {
	if v == nil {
		return true
	}
	refs := map[string]fleet.Ref{}
	if file, whole := wholes[a.t]; whole {
		refs[file] = fleet.Ref{Type: a.t}
	} else {
		for name, x := range a.items {
			ref := fleet.Ref{Type: a.t, Name: name}
			if x.item.body != nil && c.have[a.t][name] == x.item && c.standing(ref) == x.item {
				refs[fileOf(ref)] = ref
			}
		}
	}
	settled := true
	for file, ref := range refs {
		if v.known[file] == c.versions[file] {
			continue
		}
		settled = false
		if v.checks[file] == nil { // it was there before this stream
			v.checks[file] = &check{ref: ref, version: c.versions[file], since: now}
		}
	}
	return settled
}

// look asks Envoy for what is not known yet.
func (v *verdicts) look(ctx context.Context, c *content, now time.Time) error {
	if v == nil || len(v.checks) == 0 {
		return nil
	}
	s, err := v.admin.stats(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errAdmin, err)
	}
	for file, x := range v.checks {
		x.looks++
		_, whole := wholes[x.ref.Type]
		late := now.Sub(x.since) >= patience && x.looks >= 10
		switch meant := c.scopes(x.ref, file); {
		case s.taken[x.version]:
		case s.refusals(meant) > x.before.refusals(meant):
			if err := v.refused(ctx, c, file, x); err != nil {
				return fmt.Errorf("%w: %w", errAdmin, err)
			}
		case !late:
			continue
		case whole:
			if !x.told {
				x.told = true
				v.log(fmt.Sprintf("Envoy has not read %s for %s: does its bootstrap name it?", file, patience))
			}
			continue
		}
		v.known[file] = x.version
		delete(v.checks, file)
	}
	return nil
}

// refused finds out what of a file Envoy does not take, and takes it back.
func (v *verdicts) refused(ctx context.Context, c *content, file string, x *check) error {
	faultOf, err := v.faults(ctx, file, x)
	if err != nil {
		return err
	}
	for _, a := range c.answers {
		if a.t != x.ref.Type {
			continue
		}
		all := c.standingOf(a, x.ref.Name)
		named := false
		for _, name := range all {
			if fault := faultOf(name, a.items[name]); fault != "" {
				named, a.faults[name] = true, fault
				c.takeBack(a, name)
			}
		}
		if len(all) > 0 && !named {
			a.words = fmt.Sprintf("Envoy refuses %s as a whole; its log says why", file)
			c.takeBack(a, all...)
		}
	}
	wanted := c.wanted()
	for file, y := range v.checks { // of what only the refused ones name Envoy will say nothing
		if _, whole := wholes[y.ref.Type]; !whole && !wanted[y.ref] {
			delete(v.checks, file)
		}
	}
	return nil
}

// faults asks Envoy what it refuses of a file. It returns what tells the fault of one resource that stands there; "" if that is none.
func (v *verdicts) faults(ctx context.Context, file string, x *check) (func(name string, r received) string, error) {
	switch x.ref.Type {
	case fleet.Listener:
		refused, err := v.admin.refusedListeners(ctx)
		return func(name string, _ received) string { return refused[name] }, err
	case fleet.Cluster:
		versions, err := v.admin.clusterVersions(ctx)
		return func(name string, r received) string {
			changed := r.before == nil || !bytes.Equal(r.before.body, r.item.body)
			if version, there := versions[name]; there && (!changed || version == x.version) {
				return ""
			}
			return "Envoy refuses it; its log says why"
		}, err
	default:
		return func(string, received) string { return fmt.Sprintf("Envoy refuses %s; its log says why", file) }, nil
	}
}

// standingOf are the names of an answer's resources that stand in their file as they came with it, in order: of a type with a file for each, that of one name.
func (c *content) standingOf(a *answer, one string) []string {
	var all []string
	_, whole := wholes[a.t]
	for name, r := range a.items {
		if (whole || name == one) && c.have[a.t][name] == r.item && c.standing(fleet.Ref{Type: a.t, Name: name}) == r.item {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// of is a resource that stands in a file; not ok where the file holds none.
func (c *content) of(file string) (fleet.Ref, bool) {
	for t, whole := range wholes {
		if file == whole {
			return fleet.Ref{Type: t}, true
		}
	}
	for t := range folders {
		for name, it := range c.have[t] {
			if ref := (fleet.Ref{Type: t, Name: name}); it.body != nil && fileOf(ref) == file {
				return ref, true
			}
		}
	}
	return fleet.Ref{}, false
}

// scopes tells the subscriptions by which Envoy reads a file, by the prefix of their statistics.
func (c *content) scopes(ref fleet.Ref, file string) func(scope string) bool {
	is := func(want string) func(string) bool { return func(scope string) bool { return scope == want } }
	ends := func(want string) func(string) bool {
		return func(scope string) bool { return strings.HasSuffix("."+scope, "."+want) }
	}
	switch ref.Type {
	case fleet.Cluster:
		return is("cluster_manager.cds.")
	case fleet.Listener:
		return is("listener_manager.lds.")
	case fleet.Route:
		return ends("rds." + statName(ref.Name) + ".")
	case fleet.Secret:
		return ends("sds." + statName(ref.Name) + ".")
	case fleet.Runtime:
		return is("runtime.")
	case fleet.Extension:
		tail := ends(statName(ref.Name) + ".")
		return func(scope string) bool { return strings.Contains(scope, "extension_config_discovery.") && tail(scope) }
	}
	named := map[string]bool{}
	for name, it := range c.whole[fleet.Cluster] {
		if slices.Contains(it.files, file) {
			var stat struct {
				Alt string `json:"alt_stat_name"`
			}
			_ = json.Unmarshal(it.body, &stat) // it is JSON
			named["cluster."+statName(cmp.Or(stat.Alt, name))+"."] = true
		}
	}
	return func(scope string) bool { return named[scope] }
}

// statName is a name as Envoy has it in those of statistics.
func statName(name string) string {
	return strings.NewReplacer("://", "_", ":/", "_", ":", "_", "\x00", "_").Replace(strings.Trim(name, "."))
}
