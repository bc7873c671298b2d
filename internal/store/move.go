package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"fairlead/internal/fleet"
)

// Move is a tenant's move from one cell's database to another's (docs/cells.md).
type Move struct {
	// From and To are URLs as that of Migrate, and lead to Postgres without a pooler.
	From, To string
	Tenant   string        // its slug or its id
	Drain    time.Duration // how long the streams at the source may take to end and be told of; 0: no time
	Purged   bool          // of ForgetMoved: who calls knows that the target has purged the tenant
	// Cells are all cells of the installation, From and To among them by their URLs. Each is asked first, and has to answer. nil: these two alone.
	Cells []CellURL

	// At is called when a step is done, and ends the move with its error; nil: nobody asks. For tests.
	At func(step string) error
}

// CellURL is a cell's name, and the URL of its owner.
type CellURL struct{ Name, URL string }

// Moved is what a move did.
type Moved struct {
	Tenant  fleet.TenantID
	Slug    string
	Rows    int64         // that were copied
	Resumed bool          // an earlier run had come so far that the source was gone
	Already bool          // the target had the tenant, and nothing was done
	Refused time.Duration // for how long writes were refused, of this run
	Unknown time.Duration // for how long neither cell knew the tenant's tokens, of this run
	Left    []OpenStreams // streams at the source whose end was not told within Move.Drain: what their proxies report later is not in the target
}

// moveSteps are the steps at which Move.At is called, in their order.
var moveSteps = []string{"leaving", "quiet", "cleared", "copied", "arriving", "verified", "gone", "drained", "reported", "here"}

// MoveTenant has another cell serve a tenant: rows, revisions and tokens are the same there. Writes of the tenant are refused meanwhile (ErrMoving), what is read and
// served goes on until the source is gone. Where it ends early the tenant stays as it is at that step, and is served by one of the two at most. The next run clears
// what the target has and begins again. Once the source is gone it goes on instead. A target that has the tenant or its slug, and cells whose schema is not this
// program's, are fleet.ErrConflict. So is an xDS server of the source that has no lease in the target, until the source is gone.
func MoveTenant(ctx context.Context, m Move) (done Moved, err error) {
	err = m.with(ctx, func(v *mover) error {
		done = Moved{Tenant: v.tenant, Slug: v.slug}
		switch {
		case v.from.place == "gone" && v.to.place == "here":
			done.Already = true
			return nil
		case v.from.place == "gone" && v.to.place == "arriving" && v.ofOneMove():
			done.Resumed = true
		case v.slugTaken:
			return fmt.Errorf("%w: %s has another tenant with the slug %s", fleet.ErrConflict, v.to.name, v.slug)
		case v.from.place != "here" && v.from.place != "leaving", v.to.serves():
			return v.conflict()
		}
		if !done.Resumed { // else no server has its streams any more, and those that know the target are to get them
			if err := v.known(ctx); err != nil {
				if v.from.place == "leaving" {
					err = fmt.Errorf("its writes are refused until the move is made or backed out: %w", err)
				}
				return err
			}
		}
		begun := time.Now()
		if !done.Resumed {
			if err := v.leave(ctx); err != nil {
				return fmt.Errorf("its writes may be refused until the move is made or backed out: %w", err)
			}
		}
		gone := time.Now()
		err := v.arrive(ctx)
		done.Left = v.left
		if err != nil {
			return fmt.Errorf("neither cell serves it until the move is run again or backed out: %w", err)
		}
		done.Rows, done.Refused, done.Unknown = v.rows, time.Since(begun), time.Since(gone)
		return v.step("here")
	})
	if err != nil {
		return done, fmt.Errorf("move tenant %s: %w", cmp.Or(done.Slug, m.Tenant), kind(err))
	}
	return done, nil
}

// BackOutMove has the source serve the tenant again, and removes what a move that ended early has brought to the target. Once the target serves it, or another cell
// may, it is fleet.ErrConflict.
func BackOutMove(ctx context.Context, m Move) error {
	err := m.with(ctx, func(v *mover) error {
		switch {
		case v.from.place == "leaving" && !v.to.serves():
		case v.from.place == "gone" && v.to.place == "arriving" && v.ofOneMove():
		default:
			return v.conflict()
		}
		if v.to.place == "arriving" { // first: a move that is run again cannot go on then
			if err := v.clear(ctx, v.to); err != nil {
				return err
			}
		}
		return v.serve(ctx, v.from, v.from.place, func(pgx.Tx) error { return nil })
	})
	if err != nil {
		return fmt.Errorf("back the move of tenant %s out: %w", m.Tenant, kind(err))
	}
	return nil
}

// ForgetMoved removes the rows that a tenant has left in the source, or that a move which ended early has brought there, once the target serves it, or has purged it
// as the caller knows. It goes in small steps, and can be run again.
func ForgetMoved(ctx context.Context, m Move) (rows int64, err error) {
	err = m.with(ctx, func(v *mover) error {
		switch {
		case (v.from.place == "gone" || v.from.place == "arriving") && v.to.serves():
		case v.from.place == "gone" && v.to.place == "":
			if err := v.purged(ctx); err != nil {
				return err
			}
		default:
			return v.conflict()
		}
		err := v.clear(ctx, v.from)
		rows = v.cleared
		return err
	})
	if err != nil {
		return rows, fmt.Errorf("forget tenant %s: %w", m.Tenant, kind(err))
	}
	return rows, nil
}

// purged is an error unless the caller says that the target has purged the tenant, and it can have: what the source has is the last of it, if the target was restored to a
// time before the move.
func (v *mover) purged(ctx context.Context) error {
	if !v.Purged {
		return fmt.Errorf("%w: %s has nothing of the tenant. If it was deleted there and purged since, say so with --purged. If that cell was restored to a time before the move, nothing else may have the tenant: see docs/cells.md",
			fleet.ErrConflict, v.to.name)
	}
	var may bool
	err := v.from.conn.QueryRow(ctx, `SELECT coalesce(placed_at < clock_timestamp() - interval '30 days', false) FROM tenants WHERE id = $1`, v.tenant.String()).Scan(&may)
	if err == nil && !may {
		err = fmt.Errorf("%w: the move began within 30 days, and %s purges no tenant earlier than that after it was deleted", fleet.ErrConflict, v.to.name)
	}
	return err
}

// mover is one run.
type mover struct {
	Move
	from, to  *cell
	tenant    fleet.TenantID
	slug      string
	slugTaken bool // by another tenant of the target
	tables    []movedTable
	rows      int64
	cleared   int64
	left      []OpenStreams
}

func (v *mover) step(name string) error {
	if v.At == nil {
		return nil
	}
	return v.At(name)
}

// ofOneMove reports whether what the target has was brought there by the move that the source is gone with. A later move, to a third cell, may have ended: then that
// one serves the tenant, and neither of these two may.
func (v *mover) ofOneMove() bool {
	return v.from.since != nil && v.to.since != nil && v.from.since.Equal(*v.to.since)
}

func (v *mover) conflict() error {
	if v.from.place == "gone" && v.to.place == "arriving" {
		return fmt.Errorf("%w: what the target has is of an earlier move, and the tenant has moved to another cell since: name that one", fleet.ErrConflict)
	}
	return fmt.Errorf("%w: the tenant is %s in the source and %s in the target", fleet.ErrConflict, v.from, v.to)
}

// with calls work while this process alone moves the tenant. Every cell has answered then, and none but these two serves it.
func (m Move) with(ctx context.Context, work func(*mover) error) error {
	v := &mover{Move: m}
	all, err := m.open(ctx)
	defer func() {
		for _, c := range all {
			c.close(ctx)
		}
	}()
	if err != nil {
		return err
	}
	v.from, v.to = all[0], all[1]
	if err := v.look(ctx, all[2:]); err != nil {
		return err
	}
	for _, c := range []*cell{v.from, v.to} {
		if err := c.claim(ctx, v.tenant); err != nil {
			return err
		}
	}
	if err := v.look(ctx, all[2:]); err != nil { // as another run may have left it
		return err
	}
	if v.tables, err = tablesToMove(ctx, v.from.conn); err != nil {
		return err
	}
	return work(v)
}

// open connects to the source, the target and all other cells, in this order. What it has opened is to be closed where it fails, too.
func (m Move) open(ctx context.Context) (all []*cell, err error) {
	ask := []CellURL{{"", m.From}, {"", m.To}}
	for _, c := range m.Cells {
		switch c.URL {
		case m.From:
			ask[0].Name = c.Name
		case m.To:
			ask[1].Name = c.Name
		default:
			ask = append(ask, c)
		}
	}
	for i, a := range ask {
		who := "cell " + a.Name
		if i < 2 {
			who = [...]string{"the source", "the target"}[i]
			if a.Name != "" {
				who += " " + a.Name
			}
		}
		c, err := openCell(ctx, a.URL)
		if err != nil {
			return all, fmt.Errorf("%s: %w", who, err)
		}
		c.name = who
		all = append(all, c)
	}
	return all, nil
}

// look finds the tenant, and is an error where another cell serves it, or both of these do.
func (v *mover) look(ctx context.Context, others []*cell) error {
	if err := v.find(ctx); err != nil {
		return err
	}
	if v.from.serves() && v.to.serves() {
		return fmt.Errorf("%w: %s and %s both serve the tenant: one was restored to a time before a move, or both are one database (docs/cells.md)", fleet.ErrConflict, v.from.name, v.to.name)
	}
	for _, c := range others {
		if err := c.conn.QueryRow(ctx, `SELECT coalesce((SELECT place FROM tenants WHERE id = $1), '')`, v.tenant.String()).Scan(&c.place); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if c.serves() {
			return fmt.Errorf("%w: %s serves the tenant, which is %s in %s and %s in %s", fleet.ErrConflict, c.name, v.from, v.from.name, v.to, v.to.name)
		}
	}
	return nil
}

// find reads where the tenant is. Only the source has to have it.
func (v *mover) find(ctx context.Context) error {
	var deleted bool
	err := v.from.conn.QueryRow(ctx, `SELECT id, slug, place, placed_at, deleted_at IS NOT NULL FROM tenants WHERE slug = $1 OR id::text = $1 ORDER BY slug = $1 LIMIT 1`, v.Tenant).
		Scan((*[16]byte)(&v.tenant), &v.slug, &v.from.place, &v.from.since, &deleted)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("%s has no such tenant: %w", v.from.name, fleet.ErrNotFound)
	case err != nil:
		return err
	case deleted:
		return fmt.Errorf("%w: the tenant is deleted: restore it first", fleet.ErrConflict)
	}
	return v.to.conn.QueryRow(ctx, `
		SELECT coalesce(t.place, ''), t.placed_at, EXISTS (SELECT FROM tenants o WHERE o.slug = $1 AND o.id <> $2) FROM (SELECT) x LEFT JOIN tenants t ON t.id = $2`,
		v.slug, v.tenant.String()).Scan(&v.to.place, &v.to.since, &v.slugTaken)
}

// leave copies what the tenant's API has written, while nobody writes, and ends with the source gone.
func (v *mover) leave(ctx context.Context) error {
	err := v.from.conn.QueryRow(ctx, `UPDATE tenants SET place = 'leaving', placed_at = clock_timestamp() WHERE id = $1 AND place IN ('here', 'leaving') AND deleted_at IS NULL RETURNING placed_at`,
		v.tenant.String()).Scan(&v.from.since)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("%w: somebody else has changed the tenant", fleet.ErrConflict)
	}
	for _, next := range []func() error{
		func() error { return v.step("leaving") },
		func() error { return v.from.waitForWriters(ctx) },
		func() error { return v.step("quiet") },
		func() error {
			if v.to.place == "" {
				return nil
			}
			return v.clear(ctx, v.to)
		},
		func() error { return v.step("cleared") },
		func() error { return v.from.reading(ctx, func(from pgx.Tx) error { return v.copyWrites(ctx, from) }) },
		func() error { return v.step("verified") },
		func() error { return v.goAway(ctx) },
		func() error { return v.step("gone") },
	} {
		if err != nil {
			return err
		}
		err = next()
	}
	return err
}

// copyWrites copies the tables of writes in one transaction of the target, and compares what is there with the source.
func (v *mover) copyWrites(ctx context.Context, from pgx.Tx) error {
	err := v.to.arriving(ctx, func(to pgx.Tx) error {
		if _, err := to.Exec(ctx, `INSERT INTO tenants (id, slug, place, placed_at) VALUES ($1, $2, 'arriving', $3)`, v.tenant.String(), v.slug, v.from.since); err != nil {
			return err
		}
		var name string
		var created time.Time
		if err := from.QueryRow(ctx, `SELECT name, created_at FROM tenants WHERE id = $1`, v.tenant.String()).Scan(&name, &created); err != nil {
			return err
		}
		if _, err := to.Exec(ctx, `UPDATE tenants SET name = $2, created_at = $3 WHERE id = $1`, v.tenant.String(), name, created); err != nil {
			return err
		}
		if err := v.copyTables(ctx, from, to, true); err != nil {
			return err
		}
		return v.step("copied")
	})
	if err != nil {
		return err
	}
	v.to.place = "arriving"
	if err := v.step("arriving"); err != nil {
		return err
	}
	return v.compare(ctx, from, v.to.conn, true)
}

// goAway ends the tenant's life in the source. Its fleets' epochs move, so that those who serve it look, and find that it is gone.
func (v *mover) goAway(ctx context.Context) error {
	return pgx.BeginFunc(ctx, v.from.conn, func(tx pgx.Tx) error {
		if err := v.setPlace(ctx, tx, "leaving", "gone"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE fleet_heads SET epoch = greatest(epoch + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) WHERE tenant_id = $1`, v.tenant.String()); err != nil {
			return err
		}
		v.from.place = "gone"
		return v.ring(ctx, tx)
	})
}

// arrive copies what proxies have reported, when the source's streams have ended, and has the target serve the tenant.
func (v *mover) arrive(ctx context.Context) error {
	var err error
	if v.left, err = v.from.drain(ctx, v.tenant, v.Drain); err != nil {
		return err
	}
	if err := v.step("drained"); err != nil {
		return err
	}
	return v.from.reading(ctx, func(from pgx.Tx) error {
		return v.serve(ctx, v.to, "arriving", func(to pgx.Tx) error {
			if err := v.copyTables(ctx, from, to, false); err != nil {
				return err
			}
			if err := v.compare(ctx, from, to, false); err != nil {
				return err
			}
			// As of a dump that was restored (placeEvents): what this Postgres has not come to yet would not be seen until it has.
			_, err := to.Exec(ctx, `UPDATE node_events SET xact = $2::text::xid8 WHERE tenant_id = $1 AND xact >= events_end()`, v.tenant.String(), fmt.Sprint(firstTransaction))
			return errors.Join(err, v.step("reported"))
		})
	})
}

// serve has a cell serve the tenant after work, in one transaction. Leases of endpoints begin anew: nobody could renew them.
func (v *mover) serve(ctx context.Context, c *cell, was string, work func(pgx.Tx) error) error {
	err := c.arriving(ctx, func(tx pgx.Tx) error {
		if err := work(tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `
			UPDATE endpoint_leases l SET expires_at = greatest(l.expires_at, clock_timestamp() + l.ttl_ms * interval '1 ms'), due_at = greatest(l.due_at, clock_timestamp() + l.ttl_ms * interval '1 ms')
			 WHERE l.tenant_id = $1`, v.tenant.String()); err != nil {
			return err
		}
		if err := v.setPlace(ctx, tx, was, "here"); err != nil {
			return err
		}
		return v.ring(ctx, tx)
	})
	if err == nil {
		c.place = "here"
	}
	return err
}

// setPlace leaves the time of a tenant that is gone: it is when the move began, as in the target, and tells that both are of one move (ofOneMove).
func (v *mover) setPlace(ctx context.Context, tx pgx.Tx, was, place string) error {
	done, err := tx.Exec(ctx, `UPDATE tenants SET place = $3, placed_at = CASE WHEN $3 = 'gone' THEN placed_at ELSE clock_timestamp() END WHERE id = $1 AND place = $2`,
		v.tenant.String(), was, place)
	if err == nil && done.RowsAffected() != 1 {
		err = fmt.Errorf("%w: somebody else has changed the tenant", fleet.ErrConflict)
	}
	return err
}

// ring tells the cell's servers to look at all fleets of the tenant, when the transaction commits.
func (v *mover) ring(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT fleet_id FROM fleet_heads WHERE tenant_id = $1`, v.tenant.String())
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[[16]byte])
	if err != nil {
		return err
	}
	fleets := make([]fleet.ID, len(ids))
	for i, id := range ids {
		fleets[i] = id
	}
	_, err = tx.Exec(ctx, `SELECT pg_notify($1, p) FROM unnest($2::text[]) p`, channel, payloads(fleets))
	return err
}

// clear removes all rows of the tenant, which the cell does not serve, in small transactions.
func (v *mover) clear(ctx context.Context, c *cell) error {
	for more := true; more; {
		var n int64
		if err := c.conn.QueryRow(ctx, `SELECT purge_rows(tables_of_tenants(), $1, NULL, $2)`, v.tenant.String(), purgeAtOnce).Scan(&n); err != nil {
			return fmt.Errorf("remove the rows of before: %w", err)
		}
		v.cleared += n
		more = n >= purgeAtOnce
	}
	_, err := c.conn.Exec(ctx, `DELETE FROM tenants WHERE id = $1 AND place IN ('arriving', 'gone')`, v.tenant.String())
	return err
}
