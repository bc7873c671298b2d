package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	client "fairlead/clients/go"
)

// atOnce is how many endpoints one request puts.
const atOnce = 500

// discoverCommand is "fairlead discover".
type discoverCommand struct {
	Connection connection `embed:""`

	Source string `required:"" enum:"file,dns,kubernetes" help:"Where the endpoints are read: file (a list in JSON or YAML), dns (A and AAAA records, or SRV) or kubernetes (EndpointSlices)."`
	File   string `placeholder:"PATH" help:"Of file: the list. It is read again when it has changed."`
	Name   string `placeholder:"NAME" help:"Of dns: the name to look up."`
	SRV    bool   `name:"srv" help:"Of dns: look up SRV records, which tell the ports and the weights."`
	Port   string `placeholder:"PORT" help:"Of dns: the port of the endpoints, without --srv. Of kubernetes: the port's name in the Service, or its number at the pods; needed where there are several."`
	DNS    string `name:"dns-server" placeholder:"IP:PORT" help:"Of dns: whom to ask; else the machine's own."`

	kubernetesFlags

	Into  string        `name:"cluster" help:"The name of the cluster's endpoints; of file, for those in the list that name none; of kubernetes, else the Service's own name."`
	Every time.Duration `default:"5s" help:"How often the source is read, 1s to 1h; kubernetes is watched as well."`
	Lease time.Duration `default:"30s" help:"For how long the endpoints stay without a sign of this program, 5s to 24h."`
	Once  bool          `help:"Read once, put what is there without a lease, and end."`
}

// endpointSource is where endpoints are read. What it cannot read is an error; what it has none of is nothing.
type endpointSource interface {
	read(ctx context.Context) (map[string][]client.EndpointPut, error)
}

func (c *discoverCommand) source() (endpointSource, error) {
	switch {
	case c.Every < time.Second || c.Every > time.Hour:
		return nil, usageError("--every: give a time from 1s to 1h")
	case checkLease(c.Lease) != nil:
		return nil, checkLease(c.Lease)
	case c.Source == "file" && c.File == "":
		return nil, usageError("--source=file: say with --file where the list is")
	case c.Source == "file":
		return &fileSource{path: c.File, cluster: c.Into}, nil
	case c.Source == "kubernetes":
		return c.kubernetes(c.Port, c.Into, c.Once)
	case c.Name == "" || c.Into == "":
		return nil, usageError("--source=dns: say with --name what to look up, and with --cluster whose endpoints these are")
	case c.SRV == (c.Port != ""):
		return nil, usageError("--source=dns: give --port, or --srv where the records tell it")
	case c.SRV:
		return newDNSSource(c.Name, c.Into, true, 0, c.DNS), nil
	}
	port, err := strconv.ParseUint(c.Port, 10, 16)
	if err != nil || port == 0 {
		return nil, usageError(fmt.Sprintf("--port: %q is no port: write a number from 1 to 65535", c.Port))
	}
	return newDNSSource(c.Name, c.Into, false, uint16(port), c.DNS), nil
}

// Run feeds until it is stopped. What it has put then stays for its lease, so that the next run goes on with it.
func (c *discoverCommand) Run(ctx context.Context, sh *shell) error {
	from, err := c.source()
	if err != nil {
		return err
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	f := &feed{session: s, from: from, lease: leaseHolder{session: s, ttl: c.Lease, keepLast: true}, have: map[string]held{}, said: map[string]bool{}}
	if k, watches := from.(*kubernetesSource); watches {
		stop := f.watch(ctx, k)
		defer stop()
	}
	if c.Once {
		want, err := from.read(ctx)
		if err != nil {
			return err
		}
		return f.put(ctx, want, "")
	}
	return f.run(ctx, min(c.Every, c.Lease/3))
}

// held are endpoints of a cluster by their addresses, as they were put. "" is one of which it is not known whether it was: the answer did not come.
type held map[string]string

// feed keeps what a source has as endpoints under one lease.
type feed struct {
	*session
	from    endpointSource
	lease   leaseHolder
	renewed time.Time
	have    map[string]held
	said    map[string]bool // what is told once, until it is otherwise
	wake    <-chan struct{} // has an element when the source has changed; nil: only reading it tells
	again   bool            // the source is to be read soon: it was changing
}

// settle is how long is waited after a change: others follow it, and go with it.
const settle = 100 * time.Millisecond

// watch has the source watch beside the feed, until stop is called or ctx ends.
func (f *feed) watch(ctx context.Context, source *kubernetesSource) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	source.tell = func(words string) { fmt.Fprintln(f.err, plain(words)) }
	f.wake = source.Changed()
	var watching sync.WaitGroup
	watching.Go(func() { source.Run(ctx) })
	return func() {
		cancel()
		watching.Wait()
	}
}

// rest waits until the next turn is due, or the source has changed.
func (f *feed) rest(ctx context.Context, every time.Duration) {
	if f.again {
		every = min(every, fileSettles)
	}
	if f.wake == nil {
		_ = f.pause(ctx, every) // who calls looks at ctx
		return
	}
	due := time.NewTimer(every)
	defer due.Stop()
	select {
	case <-f.wake:
		_ = f.pause(ctx, settle)
	case <-due.C:
	case <-ctx.Done():
	}
}

func (f *feed) run(ctx context.Context, every time.Duration) error {
	for ctx.Err() == nil {
		if err := f.turn(ctx); refused(err) {
			return err
		} else if err != nil && ctx.Err() == nil {
			f.say("api", "warning: "+err.Error())
		} else {
			delete(f.said, "api")
		}
		f.rest(ctx, every)
	}
	return nil
}

// say tells something once.
func (f *feed) say(about, words string) {
	if !f.said[about] {
		f.said[about] = true
		fmt.Fprintln(f.err, plain(words))
	}
}

// turn renews the lease where that is due, reads the source, and puts what differs. A source that cannot be read changes nothing.
func (f *feed) turn(ctx context.Context) error {
	if now := f.now(); f.lease.id == "" || now.Sub(f.renewed) >= f.lease.ttl/3 {
		fresh, err := f.lease.keep(ctx)
		if err != nil {
			return err
		}
		if f.renewed = now; fresh {
			f.have = map[string]held{}
		}
	}
	want, err := f.from.read(ctx)
	if f.again = errors.Is(err, errChanges); f.again {
		return nil
	}
	if err != nil {
		if ctx.Err() == nil {
			f.say("source", "warning: "+err.Error()+"; what was read before stays")
		}
		return nil //nolint:nilerr // it is told
	}
	delete(f.said, "source")
	return f.put(ctx, want, f.lease.id)
}

// put brings the clusters to what is wanted. A cluster of which there is nothing any more stays as it is: a source that says nothing does not say
// that all have gone.
func (f *feed) put(ctx context.Context, want map[string][]client.EndpointPut, lease string) error {
	if len(want) == 0 && len(f.have) == 0 {
		f.say("empty", "warning: the source has no endpoints, so nothing is written")
	} else {
		delete(f.said, "empty")
	}
	clusters := maps.Clone(f.have)
	for c := range want {
		clusters[c] = f.have[c]
	}
	for _, c := range slices.Sorted(maps.Keys(clusters)) {
		about := "empty " + c
		if len(want[c]) == 0 {
			if len(f.have[c]) == 0 {
				f.say(about, fmt.Sprintf("warning: the source has no endpoints of %s, so none are written", c))
			} else {
				f.say(about, fmt.Sprintf("warning: the source has no endpoints of %s any more: those that it had stay; \"fairlead endpoints rm\" removes them", c))
			}
			continue
		}
		delete(f.said, about)
		err := f.cluster(ctx, c, want[c], lease)
		about = "refused " + c
		switch {
		case err == nil:
			delete(f.said, about)
		case lease != "" && ofContent(err): // the other clusters are not to wait for it
			f.say(about, fmt.Sprintf("warning: the endpoints of %s stay as they are: %s", c, err.Error()))
		default:
			f.lease.ended(err)
			return err
		}
	}
	return nil
}

// ofContent reports whether the API refuses what one request holds, and would take another one.
func ofContent(err error) bool {
	var p *problem
	if !errors.As(err, &p) {
		return false
	}
	switch p.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return p.Code == "no_room" || p.Code == "guarded"
}

func (f *feed) cluster(ctx context.Context, name string, want []client.EndpointPut, lease string) error {
	next, have := held{}, f.have[name]
	if have == nil {
		have = held{}
		f.have[name] = have
	}
	var set []client.EndpointPut
	for _, e := range want {
		if lease != "" {
			e.Lease = &lease
		}
		b, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if next[e.Address] = string(b); have[e.Address] != string(b) {
			set = append(set, e)
		}
	}
	var gone []string
	for address := range have {
		if _, stays := next[address]; !stays {
			gone = append(gone, address)
		}
	}
	slices.Sort(gone)
	if len(set)+len(gone) == 0 {
		return nil
	}
	// First what comes, then what goes. Each part counts when it is written: the next one may be refused.
	for part := range slices.Chunk(set, atOnce) {
		r, _, err := f.writeEndpoints(ctx, name, client.EndpointWrite{Set: &part})
		if err != nil && ofContent(err) { // nothing of it was written
			return err
		}
		for _, e := range part {
			if have[e.Address] = ""; err == nil {
				have[e.Address] = next[e.Address]
			}
		}
		if err != nil {
			return err
		}
		f.sayUnused(name, r)
	}
	for part := range slices.Chunk(gone, atOnce) {
		if _, _, err := f.writeEndpoints(ctx, name, client.EndpointWrite{Remove: &part}); err != nil {
			return err
		}
		for _, address := range part {
			delete(have, address)
		}
	}
	fmt.Fprintf(f.err, "%s: %d set, %d removed, %d in all\n", plain(name), len(set), len(gone), len(next))
	return nil
}

// sayUnused tells once what the API warns of a cluster's endpoints, until it does not any more.
func (f *feed) sayUnused(cluster string, r client.EndpointWritten) {
	about := "unused " + cluster
	if r.Warnings == nil {
		delete(f.said, about)
	}
	for _, w := range deref(r.Warnings) {
		f.say(about, "warning: "+w.Detail)
	}
}
