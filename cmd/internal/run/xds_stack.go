package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairlead/internal/delivery"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/load"
	"fairlead/internal/metrics"
	"fairlead/internal/replica"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/xds"
)

// xdsStack is what an xDS server has of one database.
type xdsStack struct {
	cfg      XDSConfig
	of       stackOf
	log      *slog.Logger
	store    *store.Store
	standby  *store.Standby  // nil: there is none
	listener *store.Listener // nil: poll alone
	recorder *delivery.Recorder
	replica  *replica.Replica
	loads    *load.Recorder
	settings *loadSettings // of the fleets' load reports
	sealKey  string        // the id of the key that opens Secrets
}

// stackOf is what a stack is given besides the configuration of its server.
type stackOf struct {
	opener  *seal.Opener
	server  fleet.ServerID    // of the process in the database
	metrics *metrics.Registry // of the database
	// Of one of several databases; zero: there is one.
	cell   string
	counts *replica.StreamCounts // of the process
	loads  load.Bounds
}

var _ databases = (*xdsStack)(nil)

// openStack opens the database, waiting for it until ctx ends.
func openStack(ctx context.Context, cfg XDSConfig, of stackOf, log *slog.Logger) (*xdsStack, error) {
	x := &xdsStack{cfg: cfg, of: of, log: log, loads: load.New(of.loads), sealKey: of.opener.KeyID()}
	var err error
	x.store, err = openStore(ctx, store.Config{URL: cfg.DatabaseURL, Role: "fairlead_node", Logger: log, Metrics: of.metrics.Database(metrics.XDS)}, URLSetting(of.cell), cfg.Waits, log)
	if err != nil {
		return nil, err
	}
	if cfg.ReadURL != "" {
		x.standby = store.NewStandby(ctx, x.store, store.StandbyConfig{URL: cfg.ReadURL, Metrics: of.metrics.Standby, Logger: log})
	}
	x.settings = &loadSettings{store: x.store, every: cfg.LoadInterval, log: log}
	if err = x.mustHaveTheKey(ctx); err == nil {
		err = x.wire()
	}
	if err != nil {
		x.close()
		return nil, err
	}
	of.metrics.Delivery.Watch(x.recorder.State)
	of.metrics.Held.Watch(x.held)
	return x, nil
}

// mustHaveTheKey refuses to start beside servers that open Secrets with another key: it could open none of what they open. A server that stands
// alone is believed, and so is one that the database does not answer: it has to come up in an outage too.
func (x *xdsStack) mustHaveTheKey(ctx context.Context) error {
	keys, err := x.store.ServerKeys(ctx)
	if errors.Is(err, fleet.ErrUnavailable) {
		x.log.Warn("the sealing keys of other xDS servers are not known", "reason", err)
		return nil
	}
	if err != nil || hasKey(keys, x.sealKey) {
		return err
	}
	return fmt.Errorf("%s holds the sealing key %s, and the other xDS servers have another one, %s: give all of them the same file, or stop those first: %w",
		x.cfg.SealPrivateKey, x.sealKey, keysText(keys), fleet.ErrConflict)
}

// feed is where fleets are read.
func (x *xdsStack) feed() replica.Feed {
	if x.standby != nil {
		return x.standby
	}
	return x.store
}

func (x *xdsStack) wire() (err error) {
	x.recorder, err = delivery.New(delivery.Config{Server: x.of.server, Name: x.cfg.Name, Sink: leased{x.store, x.load}, Logger: x.log, Metrics: x.of.metrics.Delivery, Traces: x.cfg.Traces})
	if err != nil {
		return err
	}
	x.replica, err = replica.New(replica.Config{
		Feed: x.feed(), Opener: unseal{x.of.opener}, Recorder: x.recorder, Poll: x.cfg.Poll, Logger: x.log,
		Streams: x.cfg.Streams, StreamsPerTenant: x.cfg.TenantStreams, StreamsPerCredential: x.cfg.TokenStreams,
		Metrics: x.of.metrics.Held, Traces: x.cfg.Traces, Counts: x.of.counts, Moving: x.moving, Elsewhere: x.elsewhere(),
	})
	if err != nil || x.cfg.Wakeup == "poll" {
		return err
	}
	url := x.cfg.ListenURL
	if url == "" {
		url = x.cfg.DatabaseURL
	}
	x.listener = store.NewListener(store.ListenerConfig{URL: url, Wake: x.wake, Logger: x.log, Lost: func(err error) {
		x.log.Warn("the listening connection is lost: changes are found by polling", "reason", err)
	}})
	return nil
}

// wake is told by the listener which fleet has moved; all: any may have.
func (x *xdsStack) wake(f fleet.ID, all bool) {
	if !all {
		x.of.metrics.Held.Notified()
	}
	x.replica.Wake(f, all)
}

// held is what metrics tell of the fleets.
func (x *xdsStack) held() metrics.HeldState {
	l := x.replica.Load()
	s := metrics.HeldState{Fleets: l.Fleets, Unconfirmed: l.Behind, ClockAhead: l.ClockAhead, Ends: l.Ends, MostStreams: x.cfg.Streams}
	if x.listener != nil {
		s.Listens, s.Heard = true, x.listener.Heard()
	}
	return s
}

// leased tells with each renewal of the server's lease what the server does.
type leased struct {
	*store.Store
	load func() store.ServerLoad
}

// Lease implements delivery.Sink.
func (l leased) Lease(ctx context.Context, id fleet.ServerID, name string, ttl time.Duration) (fleet.Term, error) {
	return l.LeaseWith(ctx, id, name, ttl, l.load())
}

func (x *xdsStack) load() store.ServerLoad {
	l := x.replica.Load()
	return store.ServerLoad{Version: Version(), SealKey: x.sealKey, Streams: l.Streams, Fleets: l.Fleets, Behind: l.Behind}
}

// unseal opens Secrets in the place that they were sealed for.
type unseal struct{ opener *seal.Opener }

func (u unseal) Open(key fleet.Key, name, version string, sealed []byte) ([]byte, error) {
	return u.opener.Open(seal.Context{Tenant: key.Tenant, Fleet: key.Fleet, Name: name, Version: version}, sealed)
}

// moving asks whether another cell has the tenant of a credential, or is about to.
func (x *xdsStack) moving(ctx context.Context, id fleet.CredentialID) (bool, error) {
	place, err := x.store.PlaceOfID(ctx, id)
	return place.Elsewhere(), err
}

// errArriving is said of a token whose tenant is on its way to this database.
var errArriving = fmt.Errorf("the node token cannot be checked now, its tenant is moving: try again: %w", fleet.ErrUnavailable)

// elsewhere asks the same of a credential that the database does not know; nil: of several databases each is asked by xdsCells.
func (x *xdsStack) elsewhere() func(context.Context, fleet.CredentialID, [32]byte) (why, err error) {
	if x.of.cell != "" {
		return nil
	}
	return func(ctx context.Context, id fleet.CredentialID, sent [32]byte) (why, err error) {
		place, err := x.store.Place(ctx, id, sent)
		switch place {
		case store.TokenArriving:
			why = errArriving
		case store.TokenGone:
			why = replica.ErrElsewhere
		case store.TokenHere:
			why = replica.ErrHere
		case store.TokenUnknown, store.TokenDeleted:
		}
		return why, err
	}
}

func (x *xdsStack) close() {
	if x.standby != nil {
		x.standby.Close()
	}
	x.store.Close()
}

func (x *xdsStack) Authenticate(ctx context.Context, token string) (xds.Identity, error) {
	return x.replica.Authenticate(ctx, token)
}

func (x *xdsStack) Recheck(ctx context.Context, was xds.Identity) (xds.Identity, error) {
	return x.replica.Recheck(ctx, was)
}

func (x *xdsStack) Attach(ctx context.Context, id xds.Identity, node fleet.Node, s xds.StreamInfo) (xds.Attachment, error) {
	return x.replica.Attach(ctx, id, node, s)
}

func (x *xdsStack) Denied(id xds.Identity, reason fleet.DeniedReason, node, address, note string) {
	x.replica.Denied(id, reason, node, address, note)
}

func (x *xdsStack) addLoad(id xds.Identity, r load.Report, interval time.Duration) {
	x.loads.Add(id.Key, r, interval)
}

func (x *xdsStack) loadSettings(ctx context.Context, id xds.Identity) *fleet.LoadSettings {
	return x.settings.of(ctx, id.Key)
}

func (x *xdsStack) state(context.Context) error {
	if !x.replica.Ready() {
		return fmt.Errorf("the fleets' heads were not read yet: %w", fleet.ErrUnavailable)
	}
	return nil
}

func (x *xdsStack) components() []lifecycle.Component {
	cs := []lifecycle.Component{
		{Name: "recorder", Run: x.recorder.Run},
		{Name: "replica", Run: x.replica.Run},
		{Name: "uses", Run: credentialUses{x.replica, x.store, x.log}.run},
		{Name: "denied", Run: deniedClients{x.replica, x.store, x.log}.run},          // it ends after the ports
		{Name: "loads", Run: loads{x.loads, x.store, x.cfg.LoadInterval, x.log}.run}, // likewise
		{Name: "load settings", Run: x.settings.run},
	}
	if x.listener != nil {
		cs = append(cs, lifecycle.Component{Name: "listener", Run: x.listener.Run})
	}
	return cs
}
