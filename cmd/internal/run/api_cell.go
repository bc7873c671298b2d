package run

import (
	"context"
	"fmt"
	"log/slog"

	"fairlead/internal/audit"
	"fairlead/internal/endpoints"
	"fairlead/internal/httpapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/lifecycle"
	"fairlead/internal/metrics"
	"fairlead/internal/resource"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/web"
)

// apiCell is the API of one database, with all that an API server does there beside requests.
type apiCell struct {
	name     string // "" of the only one
	url      string
	config   httpapi.Config // without what is of its database
	handler  *httpapi.API   // nil: it is not open
	store    *store.Store   // likewise
	notifier *store.Notifier
	signer   audit.Signer
	sinks    []sink // of the audit
	log      *slog.Logger
	sealKey  string // the id of the key that seals Secrets
	metrics  *metrics.Registry
	waits    *Waits // for its database
}

// cell reads the keys, and checks all that the cells of a process have in common.
func (c APIConfig) cell(log *slog.Logger) (*apiCell, error) {
	guard, err := write.ParseGuard(c.GuardRules)
	if err != nil {
		return nil, err
	}
	least, err := c.least()
	if err != nil {
		return nil, err
	}
	public, err := httpapi.ParsePublicURL(c.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("--public-url: %w", err)
	}
	if err := resource.CheckLogPaths(c.GuardLogPaths); err != nil {
		return nil, err
	}
	sealKey, err := seal.LoadPublic(c.SealPublicKey)
	if err != nil {
		return nil, fmt.Errorf("--seal-public-key (FAIRLEAD_SEAL_PUBLIC_KEY): %w", err)
	}
	sealer, err := seal.NewSealer(sealKey)
	if err != nil {
		return nil, err
	}
	versionKey, err := seal.LoadVersion(c.VersionKey)
	if err != nil {
		return nil, fmt.Errorf("--version-key (FAIRLEAD_VERSION_KEY): %w", err)
	}
	sinks, err := c.sinks()
	if err != nil {
		return nil, err
	}
	return &apiCell{
		config: httpapi.Config{
			Compiler: resource.NewCompiler(resource.Config{VersionKey: versionKey, LogPaths: c.GuardLogPaths}),
			Sealer:   sealer, Guard: guard, Public: public, Page: web.Handler(), Traces: c.Traces, LeastLoad: least,
		},
		signer: audit.NewSigner(versionKey), sinks: sinks, sealKey: sealer.KeyID(), log: log, waits: c.Waits,
	}, nil
}

// of is the same for a database.
func (c *apiCell) of(cell Cell, m *metrics.Registry, log *slog.Logger) *apiCell {
	out := *c
	out.name, out.url, out.metrics, out.log = cell.Name, cell.DatabaseURL, m, log
	if cell.Name != "" {
		out.waits = &Waits{} // the process waits for one of them
	}
	out.notifier = store.NewNotifier(store.NotifierConfig{URL: cell.DatabaseURL, Logger: log, Lost: func(err error) {
		log.Warn("the NOTIFY connection is lost: servers find changes by polling", "reason", err)
	}})
	out.config.Logger, out.config.Metrics = log, m.Requests
	return &out
}

// open opens the database with one of openStore and openNow.
func (c *apiCell) open(ctx context.Context, open func(context.Context, store.Config, string, *Waits, *slog.Logger) (*store.Store, error)) error {
	s, err := open(ctx, store.Config{URL: c.url, Role: "fairlead_app", Bell: c.notifier, Logger: c.log, Metrics: c.metrics.Database(metrics.API), Traces: c.config.Traces}, URLSetting(c.name), c.waits, c.log)
	if err != nil {
		return err
	}
	c.store, c.config.Store, c.config.Ready = s, s, c.ready
	h, err := httpapi.New(c.config)
	if err != nil {
		s.Close()
		c.store = nil
		return err
	}
	c.handler = h
	if err := c.ready(ctx); err != nil { // it may come right without a restart
		c.log.Error("the API server is not ready", "reason", err)
	}
	switch heads, err := s.HeadsOfKey(ctx, c.signer); {
	case err != nil:
		c.log.Warn("--version-key was not compared with what API servers have signed", "reason", err)
	case len(heads.Foreign) > 0:
		c.log.Error(ForeignVersionKey(heads), "tenants", heads.Foreign)
	}
	return nil
}

// components are what runs beside requests. They begin before requests are answered, and end after that.
func (c *apiCell) components() (cs []lifecycle.Component) {
	for _, s := range c.sinks {
		cs = append(cs, lifecycle.Component{Name: "the audit to " + s.Name(), Run: newForwarder(c.store, s, c.log, c.metrics.Audit).run})
	}
	return append(cs,
		lifecycle.Component{Name: "notifier", Run: c.notifier.Run},
		lifecycle.Component{Name: "compactor", Run: compactor{c.store, c.log}.run},
		lifecycle.Component{Name: "sweeper", Run: sweeper{c.store, c.log}.run},
		lifecycle.Component{Name: "load sweeper", Run: loadSweeper{c.store, c.log}.run},
		lifecycle.Component{Name: "refusal ends", Run: refusalEnds{c.store, c.log}.run},
		lifecycle.Component{Name: "analyzer", Run: analyzer{c.store, c.log}.run},
		lifecycle.Component{Name: "endpoints", Run: endpoints.NewBuilder(c.store, c.log).Run},
		lifecycle.Component{Name: "auditor", Run: auditor{c.store, c.signer, c.log}.run},
		lifecycle.Component{Name: "token ends", Run: tokenEnds{c.store, c.metrics.Requests.OperatorTokensEnd, c.log}.run},
		lifecycle.Component{Name: "denials", Run: denials{c.handler, c.log}.run},
	)
}
