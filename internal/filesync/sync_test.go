package filesync

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

func TestOnceWritesAll(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	must(t, w.sync().Run(t.Context()))
	if got := w.confirmed(); got != 1 {
		t.Errorf("all is written, and the node has confirmed revision %d", got)
	}
	if got := w.names(); got != "cds.json ecds/ext.json eds/a.json lds.json rds/r.json rtds/layer.json sds/ca.json" {
		t.Errorf("the files are %s", got)
	}
	w.whole("at the end")
	files := w.files()
	for file, words := range map[string]string{
		"cds.json": `"/xds/eds/a.json" "/xds/sds/ca.json" "version_info"`,
		"lds.json": `"/xds/rds/r.json" "/xds/ecds/ext.json"`, "sds/ca.json": "s3cr3t", "rds/r.json": `"cluster":`, "eds/a.json": "10.0.0.1",
	} {
		for _, word := range strings.Fields(words) {
			if !strings.Contains(files[file], word) {
				t.Errorf("%s has no %s:\n%s", file, word, files[file])
			}
		}
		if strings.Contains(files[file], `"ads"`) {
			t.Errorf("%s subscribes over ADS", file)
		}
	}
	for at, want := range map[string]os.FileMode{"": 0o700, "sds": 0o700, "sds/ca.json": 0o600, "cds.json": 0o600} {
		info, err := os.Stat(filepath.Join(w.dir, at))
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%q has the mode %o", at, info.Mode().Perm())
		}
	}
	again := w.sync()
	again.before = func(what string) error { t.Errorf("nothing has changed, and it does %s", what); return nil }
	must(t, again.Run(t.Context()))
	if got := w.confirmed(); got != 1 {
		t.Errorf("nothing has changed, and the node has confirmed revision %d", got)
	}
	elsewhere := w.sync(func(c *Config) { c.SeenAs = "/other" })
	must(t, elsewhere.Run(t.Context()))
	if text := w.files()["cds.json"]; strings.Contains(text, "/xds/") || !strings.Contains(text, "/other/eds/a.json") {
		t.Errorf("it is seen elsewhere, and cds.json is %s", text)
	}
}

func TestAnEmptyFleetHasItsFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	must(t, w.sync().Run(t.Context()))
	if got := w.names(); got != "cds.json lds.json" {
		t.Errorf("the files are %s", got)
	}
}

func TestChangesAreFollowed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	s := w.sync(always)
	s.before = func(what string) error { w.whole("before " + what); return nil }
	w.start(s)
	settles := func(what string, rev fleet.Revision, names string) {
		t.Helper()
		eventually(t, what+" is not settled", func() bool { return w.Settled() == rev })
		w.whole(what)
		if names != "" {
			eventually(t, what+": the files are not "+names, func() bool { return w.names() == names })
		}
	}
	settles("the first", 1, "cds.json ecds/ext.json eds/a.json lds.json rds/r.json rtds/layer.json sds/ca.json")
	settles("endpoints", w.Publish(endpointsOf(t, "a", "10.0.0.2")), "")
	if !strings.Contains(w.files()["eds/a.json"], "10.0.0.2") {
		t.Error("the endpoints are not written")
	}
	rev := w.Publish(clusterOf(t, "b", "1s"), endpointsOf(t, "b", "10.0.0.3"), routeOf(t, "r", "b"), xdstest.Delete(fleet.Cluster, "a"), xdstest.Delete(fleet.Endpoint, "a"))
	settles("another cluster", rev, "cds.json ecds/ext.json eds/b.json lds.json rds/r.json rtds/layer.json sds/ca.json")
	settles("endpoints that are gone", w.Publish(xdstest.Delete(fleet.Endpoint, "b")), "")
	if text := w.files()["eds/b.json"]; strings.Contains(text, "10.0.0.3") || !strings.Contains(text, `"cluster_name": "b"`) {
		t.Errorf("endpoints that are gone are %s", text)
	}
	w.End(errors.New("go elsewhere"))
	rev = w.Publish(listenerOf(t, "l2", "a/../r2", "s"), routeOf(t, "a/../r2", "b"))
	settles("after another stream", rev, "cds.json ecds/ext.json eds/b.json lds.json rds/a%2f..%2fr2.json rds/r.json rtds/layer.json sds/ca.json")
	rev = w.Publish(xdstest.Delete(fleet.Listener, "l"), xdstest.Delete(fleet.Listener, "l2"), xdstest.Delete(fleet.Cluster, "b"), xdstest.Delete(fleet.Runtime, "layer"))
	settles("nothing", rev, "cds.json lds.json")
}

// TestKilledAtEachChange: killed before any change of a file, the folder is whole, and the next run brings it to the end.
func TestKilledAtEachChange(t *testing.T) {
	t.Parallel()
	first := func() []xdstest.Change {
		return append(all(t), clusterOf(t, "old", "1s"), endpointsOf(t, "old", "10.0.0.9"))
	}
	next := func() []xdstest.Change { // all that changes has another name to come from, or to go to
		return []xdstest.Change{
			clusterOf(t, "b", "1s"), endpointsOf(t, "b", "10.0.0.3"), routeOf(t, "r2", "b"), listenerOf(t, "l", "r2", "s"), clusterOf(t, "old", "2s"),
			xdstest.Delete(fleet.Cluster, "a"), xdstest.Delete(fleet.Endpoint, "a"), xdstest.Delete(fleet.Route, "r"), xdstest.Delete(fleet.Runtime, "layer"), secretOf(t, "ca", "new"),
		}
	}
	for n := 1; ; n++ {
		w := setup(t)
		w.Publish(first()...)
		count, last := 0, ""
		run := func() bool {
			s := w.sync()
			s.before = func(what string) error {
				w.whole("before " + what)
				if count++; count == n {
					last = what
					return errStop
				}
				return nil
			}
			err := s.Run(t.Context())
			if err != nil && !errors.Is(err, errStop) {
				t.Fatal(err)
			}
			return err == nil
		}
		if !run() {
			w.whole("killed at " + last)
			run()
		}
		w.Publish(next()...)
		if !run() {
			w.whole("killed at " + last)
			run()
		}
		w.whole("at the end")
		if got := w.names(); got != "cds.json ecds/ext.json eds/b.json eds/old.json lds.json rds/r2.json sds/ca.json" {
			t.Errorf("killed at %s: the files are %s", last, got)
		}
		if count < n {
			if n < 15 {
				t.Errorf("there were %d changes", n-1)
			}
			return
		}
		if t.Failed() {
			t.Fatalf("killed at %d, %s", n, last)
		}
	}
}

// TestTheFirstFilesHoldAll: an Envoy that starts from a new folder, at whatever moment, has all clusters and listeners.
func TestTheFirstFilesHoldAll(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(append(all(t), clusterOf(t, "static", "1s"), listenerOf(t, "l2", "r", "s"))...)
	s := w.sync()
	changes := 0
	s.before = func(string) error {
		changes++
		files := w.files()
		for file, names := range map[string][]string{"cds.json": {`"a"`, `"static"`}, "lds.json": {`"l"`, `"l2"`}} {
			for _, name := range names {
				if text, there := files[file]; there && !strings.Contains(text, name) {
					t.Errorf("%s is there without %s:\n%s", file, name, text)
				}
			}
		}
		return nil
	}
	must(t, s.Run(t.Context()))
	if changes < 7 {
		t.Errorf("there were %d changes", changes)
	}
}

// TestWhatNeverComesIsNotWaitedForAlways: the first files are written without what lacks something, after a while.
func TestWhatNeverComesIsNotWaitedForAlways(t *testing.T) {
	t.Parallel()
	f, err := openFolder(filepath.Join(t.TempDir(), "files"))
	must(t, err)
	defer f.close()
	c, err := newContent(f, "/xds")
	must(t, err)
	c.begin = func() error { return nil }
	r := &discovery.DeltaDiscoveryResponse{}
	for _, x := range []xdstest.Change{clusterOf(t, "waits", "1s"), put(t, fleet.Cluster, `{"name": "static"}`)} {
		value, err := anypb.New(x.Body)
		must(t, err)
		r.Resources = append(r.Resources, &discovery.Resource{Name: x.Name, Version: "1", Resource: value})
	}
	a := c.take(fleet.Cluster, r)
	for _, partial := range []bool{false, true} {
		c.partial = partial
		_, err := c.write()
		must(t, err)
		if c.written(a) {
			t.Error("what waits is answered as written")
		}
		text, err := os.ReadFile(filepath.Join(f.root.Name(), "cds.json"))
		switch {
		case !partial && err == nil:
			t.Errorf("it is written before all has come:\n%s", text)
		case partial && (!strings.Contains(string(text), `"static"`) || strings.Contains(string(text), `"waits"`)):
			t.Errorf("what has come is not written, or what waits is: %v\n%s", err, text)
		}
	}
}

// TestItEndsWhereverItIs: also while a response waits to be taken that nobody will take any more.
func TestItEndsWhereverItIs(t *testing.T) {
	t.Parallel()
	for n := range 7 {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.Publish(all(t)...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, changes := w.sync(always), 0
			s.before = func(string) error {
				if changes == n {
					cancel()
				}
				changes++
				return nil
			}
			ended := make(chan error, 1)
			var running sync.WaitGroup
			running.Go(func() { ended <- s.Run(ctx) })
			select {
			case err := <-ended:
				must(t, err)
			case <-time.After(time.Minute):
				t.Fatal("it does not end")
			}
			running.Wait()
		})
	}
}

// TestOnceSaysWhy: what keeps a folder from being whole is told.
func TestOnceSaysWhy(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(append(all(t), listenerOf(t, "waits", "none", "s"))...)
	soon := func(c *Config) { c.Within = 15 * time.Second } // by then all else is there
	tried := func(c *Config) { c.Within = 5 * time.Second }
	for name, c := range map[string]struct {
		edit func(*Config)
		says string
	}{
		"kept back":    {soon, `after 15s not all is there: the server keeps back listeners/waits: "fairlead findings" and "fairlead events" say why`},
		"no server":    {func(c *Config) { tried(c); c.Servers = []string{"127.0.0.1:1"} }, "127.0.0.1:1 cannot be reached"},
		"no TLS there": {func(c *Config) { tried(c); c.TLS = &tls.Config{MinVersion: tls.VersionTLS12} }, `if it has no TLS, as that of "fairlead dev", give --plaintext`},
		"a bad token":  {func(c *Config) { c.Token = func() (string, error) { return "bad", nil } }, " has ended the stream"},
		"another node": {func(c *Config) { c.Token = func() (string, error) { return "other-*", nil } }, " has ended the stream"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := w.sync(c.edit, func(c *Config) { c.Directory = filepath.Join(t.TempDir(), "files") })
			if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

func TestWhatCannotBeAFileIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	w.start(w.sync(always))
	eventually(t, "not settled", func() bool { return w.Settled() == 1 })
	w.Publish(scopedListener(t), clusterOf(t, "a", "3s"))
	eventually(t, "not refused", func() bool { return len(w.Refusals()) > 0 && w.Settled() == 2 })
	if got := w.Refusals()[0]; !strings.HasPrefix(got.Detail, "Error adding/updating listener(s) scoped: filter_chains.filters.typed_config.scoped_routes.") {
		t.Errorf("the server was told %q", got.Detail)
	}
	if text := w.files()["cds.json"]; !strings.Contains(text, "3s") {
		t.Error("the cluster is not written")
	}
}

func TestAFolderIsOnesOwn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	must(t, os.MkdirAll(w.dir, 0o700))
	must(t, os.WriteFile(filepath.Join(w.dir, "mine.json"), nil, 0o600))
	if err := w.sync().Run(t.Context()); !errors.Is(err, fleet.ErrInvalid) || !strings.Contains(err.Error(), "mine.json") {
		t.Errorf("with a file of somebody else it ends with %v", err)
	}
	must(t, os.Remove(filepath.Join(w.dir, "mine.json")))
	f, err := openFolder(w.dir)
	must(t, err)
	if err := w.sync().Run(t.Context()); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("beside another it ends with %v", err)
	}
	f.close()
	left := filepath.Join(w.dir, "eds", unfinished+"a.json")
	must(t, os.WriteFile(left, []byte("{"), 0o600))
	must(t, w.sync().Run(t.Context()))
	if _, err := os.Stat(left); err == nil {
		t.Error("what was not finished is still there")
	}
}

// TestADiskThatTakesNothing: what this machine lacks is no refusal, and is tried again.
func TestADiskThatTakesNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Publish(all(t)...)
	s := w.sync(always)
	full := make(chan struct{})
	failed := 0
	var said []string // of the program's own goroutine, until it has ended
	s.Log = func(words string) { said = append(said, words) }
	s.before = func(string) error {
		select {
		case <-full:
			return nil
		default:
			if failed++; failed == 2 {
				close(full)
			}
			return errors.New("no space left")
		}
	}
	stop := w.start(s)
	eventually(t, "not settled", func() bool { return w.Settled() == 1 })
	stop()
	if len(w.Refusals()) > 0 || failed != 2 {
		t.Errorf("%d writes failed, and refused is %v", failed, w.Refusals())
	}
	told := strings.Join(said, "\n")
	if strings.Count(told, "it is tried again each second") != 1 || strings.Count(told, "the files are written again") != 1 {
		t.Errorf("it said:\n%s", told)
	}
}

func TestMoreFilesThanEnvoyWatches(t *testing.T) {
	t.Parallel()
	if watchLimit() < 1 {
		t.Error("the limit of this machine is not known")
	}
	for limit, want := range map[int]int{6: 1, 7: 0, 0: 0} {
		w := setup(t)
		w.Publish(all(t)...)
		told := 0
		s := w.sync(func(c *Config) {
			c.Log = func(words string) {
				if strings.Contains(words, "max_user_instances") {
					told++
				}
			}
		})
		s.watches = func() int { return limit }
		must(t, s.Run(t.Context()))
		if told != want {
			t.Errorf("with a limit of %d it is told %d times", limit, told)
		}
	}
}
