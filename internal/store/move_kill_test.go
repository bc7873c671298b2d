package store_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// dieAt names what another process of this test moves, and at which step it is killed.
const dieAt = "FAIRLEAD_TEST_MOVE"

// moveAndDie is that process: it moves a tenant and kills itself at a step, as nobody can prepare for.
func moveAndDie() bool {
	args := strings.Split(os.Getenv(dieAt), "\n")
	if len(args) != 4 {
		return false
	}
	_, _ = store.MoveTenant(context.Background(), store.Move{From: args[0], To: args[1], Tenant: args[2], At: func(step string) error {
		if step == args[3] {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}})
	return true
}

// A move that is killed at any step leaves a tenant that at most one cell serves; the move that is run again ends it, and nothing is lost.
func TestAMoveThatIsKilledIsRunAgain(t *testing.T) {
	for _, step := range store.MoveSteps {
		t.Run(step, func(t *testing.T) {
			m := setupMoving(t)
			before := m.digests(m.tenant)
			child := exec.CommandContext(t.Context(), os.Args[0])
			child.Env = append(os.Environ(), dieAt+"="+strings.Join([]string{m.db.Owner, m.target.db.Owner, m.tenant.String(), step}, "\n"))
			var died *exec.ExitError
			if err := child.Run(); !errors.As(err, &died) || died.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("the process ended with %v", err)
			}
			source, err := m.app.PlaceOfID(t.Context(), m.token)
			m.ok(err)
			target, err := m.target.app.PlaceOfID(t.Context(), m.token)
			m.ok(err)
			if source == store.TokenHere && target == store.TokenHere || source != store.TokenHere && target != store.TokenHere && source != store.TokenGone {
				t.Errorf("the source says %v and the target %v", source, target)
			}
			until(t, "the dead process's connections end", func() bool {
				return m.count(`SELECT count(*) FROM pg_stat_activity WHERE application_name = 'fairlead-move' AND datname = ANY ($1)`, []string{m.db.Name, m.target.db.Name}) == 0
			})
			done, err := store.MoveTenant(t.Context(), m.move())
			m.ok(err)
			if done.Already != (step == "here") {
				t.Errorf("it did %+v", done)
			}
			m.served(false)
			after := m.target.digests(m.tenant)
			for table, want := range before {
				if table != "server_settled" && after[table] != want {
					t.Errorf("table %s was %s and is %s", table, want, after[table])
				}
			}
			m.alike()
			if _, err := m.try(put(fleet.Cluster, "z", "1")); !errors.Is(err, store.ErrMoving) {
				t.Errorf("a write in the source: %v", err)
			}
		})
	}
}
