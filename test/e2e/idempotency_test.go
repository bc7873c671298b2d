package e2e

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// holdCommits makes each commit of a revision wait while somebody holds the advisory lock 7.
const holdCommits = `
CREATE FUNCTION hold_commit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = 0 AS
  'BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER hold_commit AFTER INSERT ON fleet_history DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_commit()`

// keyed is an apply with one Idempotency-Key, which is sent again and again.
type keyed struct {
	*installation
	key, document string
}

func (k *keyed) ask() (*client.ApplyResponse, error) {
	return k.REST.ApplyWithBodyWithResponse(k.T.Context(), k.Tenant, k.Fleet, &client.ApplyParams{IdempotencyKey: &k.key}, "application/yaml", strings.NewReader(k.document))
}

// apiAgain starts another API server, which is asked from now on.
func (k *keyed) apiAgain() *world.Program {
	k.T.Helper()
	p := k.StartAPI("--listen", world.AnyPort, "--database-url", k.DB.App)
	k.API = "http://" + p.Logged("the port is open", "address")
	world.AwaitOK(k.T, k.API+"/readyz")
	k.REST = k.As(k.Token)
	return p
}

// cutOff sends the apply and kills the API server while it commits. Postgres commits all the same, or the transaction is lost.
func (k *keyed) cutOff(commits bool) {
	k.T.Helper()
	db := k.DB.Connect(k.T, k.DB.Owner)
	defer db.Close(k.T.Context()) //nolint:errcheck // the locks go with it
	is := func(sql string, args ...any) (is bool) {
		k.T.Helper()
		world.Must(k.T, db.QueryRow(k.T.Context(), sql, args...).Scan(&is))
		return is
	}
	is(`SELECT pg_try_advisory_lock(7)`)
	api := k.apiAgain()
	var asked sync.WaitGroup
	asked.Go(func() {
		if r, err := k.ask(); err == nil {
			k.T.Errorf("a server that was killed answered %d: %s", r.StatusCode(), r.Body)
		}
	})
	const waiter = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	world.Eventually(k.T, world.Soon, "no commit waits", func() bool { return is(`SELECT EXISTS (` + waiter + `)`) })
	api.Kill()
	asked.Wait()
	if !commits {
		is(`SELECT pg_terminate_backend((` + waiter + `))`)
		world.Eventually(k.T, world.Soon, "the transaction did not end", func() bool { return !is(`SELECT EXISTS (` + waiter + `)`) })
	}
	is(`SELECT pg_advisory_unlock(7)`)
	if commits {
		world.Eventually(k.T, world.Soon, "the revision was not committed", func() bool { return is(`SELECT EXISTS (SELECT FROM fleet_history)`) })
	} else if is(`SELECT EXISTS (SELECT FROM fleet_history)`) {
		k.T.Error("a transaction that was lost made a revision")
	}
}

// TestOneKeyIsOneRevision: a hundred repeats of an apply with one key make one revision and have one answer, also where the API server was killed
// before the commit, and after it and before the answer.
func TestOneKeyIsOneRevision(t *testing.T) {
	t.Parallel()
	k := &keyed{setup(t), "deploy-1", world.Together(world.Cluster("a", "1s"))}
	k.DB.Exec(t, holdCommits)
	k.cutOff(false)
	k.cutOff(true)

	k.apiAgain()
	first, err := k.ask()
	k.Made(first, err)
	if r := first.JSON200; r.Revision != 1 || r.Changed != 1 {
		t.Fatalf("after the kill: %s", first.Body)
	}
	k.Put(world.Cluster("a", "2s")) // by somebody else, which no repeat takes back
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 10 {
				if r, err := k.ask(); err != nil || r.StatusCode() != http.StatusOK || !bytes.Equal(r.Body, first.Body) {
					t.Errorf("a repeat: %v, %+v, want %s", err, r, first.Body)
				}
			}
		})
	}
	all.Wait()
	revisions, err := k.REST.ListRevisionsWithResponse(t.Context(), k.Tenant, k.Fleet, nil)
	k.Made(revisions, err)
	if n := len(revisions.JSON200.Items); n != 2 {
		t.Errorf("%d revisions, want that of the key and that of somebody else", n)
	}
}
