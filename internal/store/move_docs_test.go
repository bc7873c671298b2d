package store_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// afterRestore are the statements of docs/cells.md for a cell that was restored: the one that shows its tenants' places, and those that set one.
func afterRestore(t *testing.T) (shows, gone, here string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/cells.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## After a restore or a failover of a cell\n")
	commands := regexp.MustCompile(`(?m)^psql "\$CELL_URL" -c "([^"]+)"$`).FindAllStringSubmatch(text, -1)
	sets := regexp.MustCompile("`(UPDATE [^`]+)`").FindAllStringSubmatch(text, -1)
	if len(commands) != 1 || len(sets) != 2 || strings.Count(text, "UPDATE ") != len(sets) || strings.Count(text, "SELECT ") != len(commands) {
		t.Fatalf("the section has the commands %q and the statements %q: have this test run all of them", commands, sets)
	}
	return commands[0][1], sets[0][1], sets[1][1]
}

// asOwner runs a statement of the page as it says, for this tenant, and returns how many rows it was for.
func (w *world) asOwner(sql string) int64 {
	w.Helper()
	if strings.HasPrefix(sql, "UPDATE ") && !strings.Contains(sql, "'...'") {
		w.Fatalf("%s: it leaves no place for the tenant's id", sql)
	}
	w.exec(`SET ROLE fairlead_owner`)
	defer w.exec(`RESET ROLE`)
	done, err := w.super.Exec(w.Context(), strings.ReplaceAll(sql, "'...'", "'"+w.tenant.String()+"'"))
	w.ok(err)
	return done.RowsAffected()
}

// shown is what the page's command shows of the tenant.
func (w *world) shown(sql string) (place string) {
	w.Helper()
	w.exec(`SET ROLE fairlead_owner`)
	defer w.exec(`RESET ROLE`)
	rows, err := w.super.Query(w.Context(), sql)
	w.ok(err)
	defer rows.Close()
	for rows.Next() {
		v, err := rows.Values()
		w.ok(err)
		if len(v) == 4 && v[1] == [16]byte(w.tenant) {
			place, _ = v[2].(string)
		}
	}
	w.ok(rows.Err())
	return place
}

// A source that was restored to a time before the move serves the tenant beside the target, until it is told what the page says.
func TestThePagesStatementsAfterARestoreOfTheSource(t *testing.T) {
	shows, gone, _ := afterRestore(t)
	for _, was := range []string{"here", "leaving"} {
		t.Run(was, func(t *testing.T) {
			m := setupMoving(t)
			_, err := store.MoveTenant(t.Context(), m.move())
			m.ok(err)
			m.exec(`UPDATE tenants SET place = $2 WHERE id = $1`, m.tenant.String(), was)
			if source, target := m.shown(shows), m.target.shown(shows); source != was || target != "here" {
				t.Errorf("the cells show %q and %q", source, target)
			}
			m.isAt(m.app, m.token, store.TokenHere)
			if n := m.asOwner(gone); n != 1 {
				t.Errorf("%d tenants are gone", n)
			}
			m.served(false)
			if got := m.shown(shows); got != "gone" {
				t.Errorf("the source shows %q", got)
			}
			_, err = store.ForgetMoved(t.Context(), m.move())
			m.ok(err)
		})
	}
}

// Where the target was restored to a time before the move, what the source has is all that is left, and it serves that again.
func TestThePagesStatementsAfterARestoreOfTheTarget(t *testing.T) {
	shows, _, here := afterRestore(t)
	m := setupMoving(t)
	_, err := store.MoveTenant(t.Context(), m.move())
	m.ok(err)
	_, err = store.ForgetMoved(t.Context(), store.Move{From: m.target.db.Owner, To: m.db.Owner, Tenant: m.tenant.String()})
	m.is(err, fleet.ErrConflict)
	m.target.exec(`UPDATE tenants SET place = 'gone'`) // of such a one all rows may be removed
	m.target.exec(`SELECT purge_rows(tables_of_tenants(), $1, NULL, 1000000)`, m.tenant.String())
	m.target.exec(`DELETE FROM tenants`)
	if source, target := m.shown(shows), m.target.shown(shows); source != "gone" || target != "" {
		t.Errorf("the cells show %q and %q", source, target)
	}
	if n := m.asOwner(here); n != 1 {
		t.Errorf("%d tenants are here", n)
	}
	m.served(true)
	m.apply(put(fleet.Cluster, "after", "1"))
	_, err = store.MoveTenant(t.Context(), m.move())
	m.ok(err)
	m.served(false)
}

// A target that has lost the last step of the move serves the tenant when the move is run again, or the source does when it is backed out.
func TestThePagesWayAfterARestoreOfATargetThatIsArriving(t *testing.T) {
	shows, _, _ := afterRestore(t)
	for by, bySource := range map[string]bool{"run again": false, "backed out": true} {
		t.Run(by, func(t *testing.T) {
			m := setupMoving(t)
			move, stop := m.move(), errors.New("stop")
			move.At = func(step string) error {
				if step == "gone" {
					return stop
				}
				return nil
			}
			_, err := store.MoveTenant(t.Context(), move)
			m.is(err, stop)
			if source, target := m.shown(shows), m.target.shown(shows); source != "gone" || target != "arriving" {
				t.Errorf("the cells show %q and %q", source, target)
			}
			if bySource {
				m.ok(store.BackOutMove(t.Context(), m.move()))
			} else {
				_, err := store.MoveTenant(t.Context(), m.move())
				m.ok(err)
			}
			m.served(bySource)
		})
	}
}
