package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/load"
	"fairlead/internal/replica"
	"fairlead/internal/seal"
	"fairlead/internal/store"
	"fairlead/internal/xds"
)

const (
	// cellsAsked is how long all cells together may take to say whether they know a token, and cellPatience each of them.
	cellsAsked, cellPatience = 10 * time.Second, 2 * time.Second
	// cellsDoubted is how many tokens from addresses in doubt are looked for at once.
	cellsDoubted = 4
	// knownTokens is of how many tokens it is remembered which cell knows them.
	knownTokens = 100_000
)

// errCellsUnsure is said of a token that no cell knows, while one of them could not be asked, or its tenant is between two of them.
var errCellsUnsure = fmt.Errorf("the node token cannot be checked now, a database does not answer or its tenant is moving: try again: %w", fleet.ErrUnavailable)

// xdsCells serve from several databases: the token says from which. What bounds the process they share.
type xdsCells struct {
	cells   []*xdsCell
	byName  map[string]*xdsCell
	apart   apart
	lookups *auth.Lookups // of tokens that may be of any cell
	stop    time.Duration // that a cell has to stop

	mu    sync.Mutex            // guards known
	known map[[32]byte]*xdsCell // by the hashes of tokens: whoever has an id alone is not let ahead of others
}

var _ databases = (*xdsCells)(nil)

func newXDSCells(cfg XDSConfig, cells []Cell, opener *seal.Opener, log *slog.Logger) *xdsCells {
	x := &xdsCells{byName: map[string]*xdsCell{}, lookups: auth.NewLookups(0, cellsDoubted), stop: cfg.Drain + 20*time.Second, known: map[[32]byte]*xdsCell{}}
	server := fleet.NewServerID()
	counts := replica.NewStreamCounts(cfg.Streams, cfg.TenantStreams, cfg.TokenStreams)
	for _, c := range cells {
		own, of := cfg, stackOf{opener: opener, server: server.Beside(), metrics: cfg.Metrics.Cell(c.Name), cell: c.Name, counts: counts, loads: load.Bounds{}.Part(len(cells))}
		own.DatabaseURL, own.ListenURL, own.ReadURL, own.Waits = c.DatabaseURL, c.ListenURL, c.ReadURL, &Waits{}
		log := log.With("cell", c.Name)
		cell := &xdsCell{name: c.Name, url: c.DatabaseURL, log: log, waits: own.Waits, open: func(ctx context.Context) (*xdsStack, error) { return x.openStack(ctx, c.Name, own, of, log) }}
		x.cells, x.byName[c.Name] = append(x.cells, cell), cell
	}
	return x
}

// openStack is that of a cell whose database is no other cell's.
func (x *xdsCells) openStack(ctx context.Context, cell string, cfg XDSConfig, of stackOf, log *slog.Logger) (*xdsStack, error) {
	s, err := openStack(ctx, cfg, of, log)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, cellPatience)
	defer cancel()
	if err := x.apart.check(within, cell, cfg.DatabaseURL); errors.Is(err, errOneDatabase) {
		s.close()
		return nil, err
	}
	return s, nil
}

func (x *xdsCells) components() (cs []lifecycle.Component) {
	for _, c := range x.cells {
		cs = append(cs, lifecycle.Component{Name: "cell " + c.name, Run: c.run, StopTimeout: x.stop})
	}
	return cs
}

// close does nothing: each cell closes with its component.
func (x *xdsCells) close() {}

// state is good while the heads of one cell were read; it names the others.
func (x *xdsCells) state(ctx context.Context) error {
	ready, away, answered := false, []string{}, make([]bool, len(x.cells))
	var asked sync.WaitGroup
	for i, c := range x.cells {
		asked.Go(func() { answered[i] = c.alive(ctx) })
	}
	asked.Wait()
	for i, c := range x.cells {
		if s := c.stack.Load(); s != nil && s.replica.Ready() {
			ready = true
		}
		if !answered[i] {
			away = append(away, c.away())
		}
	}
	switch {
	case !ready:
		return fmt.Errorf("the fleets' heads of no cell were read yet (%s): %w", strings.Join(away, ", "), fleet.ErrUnavailable)
	case len(away) > 0:
		return &PartlyReady{"cells that do not answer: " + strings.Join(away, ", ")}
	}
	return nil
}

// Authenticate finds the cell that knows the token.
func (x *xdsCells) Authenticate(ctx context.Context, token string) (xds.Identity, error) {
	id, err := auth.ParseNodeToken(token)
	if err != nil {
		return xds.Identity{}, err
	}
	return x.find(ctx, id, auth.Hash(token), func(ctx context.Context, r *replica.Replica) (xds.Identity, error) { return r.Authenticate(ctx, token) })
}

// Recheck ends what began with a token that another cell knows by now.
func (x *xdsCells) Recheck(ctx context.Context, was xds.Identity) (xds.Identity, error) {
	ask := func(ctx context.Context, r *replica.Replica) (xds.Identity, error) { return r.Recheck(ctx, was) }
	c := x.byName[was.Cell]
	if c == nil {
		return xds.Identity{}, errCellAway
	}
	who, err := c.ask(ctx, ask)
	if !errors.Is(err, replica.ErrUnknown) {
		return who, err
	}
	if _, err := x.find(ctx, was.Credential, was.Token, ask); err != nil {
		return xds.Identity{}, err
	}
	return xds.Identity{}, replica.ErrMoved
}

// find asks the cell that knew the token last, and then all others. An unknown id and a wrong secret take the same way (T07): every cell is asked once, and once more
// where its tenant is.
func (x *xdsCells) find(ctx context.Context, id fleet.CredentialID, sent [32]byte, ask askCell) (xds.Identity, error) {
	if why := x.lookups.Rejected(sent, time.Now()); why != nil {
		return xds.Identity{}, why
	}
	last := x.lastOf(sent)
	if last != nil {
		who, err := last.ask(ctx, ask)
		if !errors.Is(err, replica.ErrUnknown) {
			return who, err
		}
	}
	leave, err := x.lookups.Begin(ctx, xds.RemoteAddr(ctx), time.Now())
	if err != nil {
		return xds.Identity{}, err
	}
	defer leave()
	within, cancel := context.WithTimeout(ctx, cellsAsked)
	defer cancel()
	who, sure, err := x.search(within, sent, last, ask)
	var why error
	if sure && errors.Is(err, replica.ErrUnknown) {
		why = x.elsewhere(within, id, sent)
	}
	if errors.Is(why, replica.ErrHere) { // a move has just ended
		why = nil
		who, sure, err = x.search(within, sent, nil, ask)
	}
	switch {
	case !errors.Is(err, replica.ErrUnknown):
		return who, err
	case !sure:
		why = errCellsUnsure
	}
	if why != nil {
		x.lookups.Doubt(xds.RemoteAddr(ctx), time.Now())
		return xds.Identity{}, why
	}
	x.lookups.Reject(sent, xds.RemoteAddr(ctx), replica.ErrUnknown, time.Now())
	return xds.Identity{}, replica.ErrUnknown
}

// search asks all cells but that one, those that answer first. sure: each of them has answered.
func (x *xdsCells) search(ctx context.Context, sent [32]byte, asked *xdsCell, ask askCell) (who xds.Identity, sure bool, err error) {
	sure = true
	for _, c := range x.inOrder() {
		switch {
		case c == asked:
			continue
		case c.rests():
			sure = false
			continue
		}
		who, err := c.askWithin(ctx, cellPatience, ask)
		switch {
		case errors.Is(err, replica.ErrUnknown):
		case errors.Is(err, fleet.ErrUnavailable):
			sure = false
		default:
			x.remember(sent, c)
			return who, true, err
		}
	}
	return xds.Identity{}, sure, replica.ErrUnknown
}

// inOrder are the cells, those that answer first.
func (x *xdsCells) inOrder() []*xdsCell {
	cells := slices.Clone(x.cells)
	slices.SortStableFunc(cells, func(a, b *xdsCell) int {
		switch x, y := a.answers(), b.answers(); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	return cells
}

// elsewhere is why a token that no cell knows is not refused: a cell has rows of its tenant that it does not serve, or cannot be asked for that. Where the tenant was
// deleted since in the cell that it came to, it is on no way. One that is gone, and that no cell is about to have or has by now, is in a cell that this server does not know.
// It is replica.ErrHere where a cell serves it since this moment.
func (x *xdsCells) elsewhere(ctx context.Context, id fleet.CredentialID, sent [32]byte) error {
	said := map[store.TokenPlace]bool{}
	unsure := false
	for _, c := range x.cells {
		s := c.stack.Load()
		if s == nil {
			return errCellsUnsure
		}
		place, err := s.store.Place(ctx, id, sent)
		unsure = unsure || err != nil
		said[place] = true
	}
	gone, arriving := said[store.TokenGone], said[store.TokenArriving]
	switch {
	case unsure:
		return errCellsUnsure
	case said[store.TokenHere] && !gone && !arriving:
		return replica.ErrHere
	case !gone && !arriving || said[store.TokenDeleted]:
		return nil
	case arriving || said[store.TokenHere]:
		return errCellsUnsure
	}
	return replica.ErrElsewhere
}

func (x *xdsCells) lastOf(sent [32]byte) *xdsCell {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.known[sent]
}

// remember forgets others where there are many: which, is left to chance, and costs a question to each cell.
func (x *xdsCells) remember(sent [32]byte, c *xdsCell) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for other := range x.known {
		if len(x.known) < knownTokens {
			break
		}
		delete(x.known, other)
	}
	x.known[sent] = c
}

// of is the open cell that an identity is of; nil: there is none.
func (x *xdsCells) of(id xds.Identity) *xdsStack {
	if c := x.byName[id.Cell]; c != nil {
		return c.stack.Load()
	}
	return nil
}

// Attach ties a stream to its fleet, in its token's cell.
func (x *xdsCells) Attach(ctx context.Context, id xds.Identity, node fleet.Node, s xds.StreamInfo) (xds.Attachment, error) {
	in := x.of(id)
	if in == nil {
		return nil, errCellAway
	}
	return in.Attach(ctx, id, node, s)
}

// Denied tells the fleet, in its token's cell.
func (x *xdsCells) Denied(id xds.Identity, reason fleet.DeniedReason, node, address, note string) {
	if in := x.of(id); in != nil {
		in.Denied(id, reason, node, address, note)
	}
}

func (x *xdsCells) addLoad(id xds.Identity, r load.Report, interval time.Duration) {
	if in := x.of(id); in != nil {
		in.addLoad(id, r, interval)
	}
}

var noLoadSettings fleet.LoadSettings

func (x *xdsCells) loadSettings(ctx context.Context, id xds.Identity) *fleet.LoadSettings {
	if in := x.of(id); in != nil {
		return in.loadSettings(ctx, id)
	}
	return &noLoadSettings
}
