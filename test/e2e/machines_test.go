package e2e

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"fairlead/internal/localpg"
	"fairlead/test/world"
)

// machine stands for one of a production, where each program has its own. Here two processors have to do: on the first is what all
// share, the database, the API, and who measures; on the second are the servers of streams. One that dies again and again yields
// to the one that lives, and clients yield to both.
type machine struct{ processor, nice int }

var (
	database = machine{0, 0}
	servers  = machine{1, 0}
	replaced = machine{1, 10}
	clients  = machine{1, 19}
)

// setupSoak is setupPostgres; apart: with programs that are started as if each had a machine.
func setupSoak(t testing.TB, apart bool) (*installation, *localpg.Server) {
	t.Helper()
	if apart {
		all := strings.Fields(taskset(t))
		t.Cleanup(func() { taskset(t, all[len(all)-1]) })
		taskset(t, strconv.Itoa(database.processor))
	}
	w, pg := setupPostgres(t)
	w.apart = apart
	return w, pg
}

// on has what is started run as on this machine, if programs are apart.
func (w *installation) on(m machine, start func()) {
	if w.apart {
		w.Under = []string{"taskset", "-c", strconv.Itoa(m.processor), "nice", "-n", strconv.Itoa(m.nice)}
		defer func() { w.Under = nil }()
	}
	start()
}

// taskset tells on which processors this process may run, or sets them.
func taskset(t testing.TB, processors ...string) string {
	t.Helper()
	args := []string{"-c", "-p"}
	if len(processors) > 0 {
		args = append([]string{"-a"}, append(args, processors...)...)
	}
	out, err := exec.Command("taskset", append(args, strconv.Itoa(os.Getpid()))...).CombinedOutput()
	world.Must(t, err)
	return string(out)
}
