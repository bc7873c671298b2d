package run

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/load"
)

// awayAtFirst is a database that fails so many times, and adds up what it is given then.
type awayAtFirst struct {
	times  int
	issued int64
	calls  int
	noted  []fleet.ClusterSeen
	notes  int
}

func (f *awayAtFirst) AddLoad(ctx context.Context, ls []fleet.Load) ([]fleet.Load, error) {
	f.calls++
	if f.calls <= f.times {
		return ls, errors.New("away")
	}
	for _, l := range ls {
		f.issued += l.Issued
	}
	return nil, ctx.Err()
}

// NoteLoad fails once more, after AddLoad has succeeded.
func (f *awayAtFirst) NoteLoad(ctx context.Context, seen fleet.LoadSeen) (fleet.LoadSeen, error) {
	if f.notes++; f.notes == 1 {
		return seen, errors.New("away")
	}
	f.noted = append(f.noted, seen.Clusters...)
	return fleet.LoadSeen{}, ctx.Err()
}

// What is reported while the database is away is written when it is back, the last of it when the server stops; several failures are one line.
func TestLoadIsWrittenOnceInAnInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		recorder, db := load.New(load.Bounds{Fleet: 1}), &awayAtFirst{times: 3}
		key := fleet.Key{Tenant: fleet.NewTenantID(), Fleet: fleet.NewID()}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- loads{recorder, db, 10 * time.Second, slog.New(slog.NewTextHandler(&out, nil))}.run(ctx)
		}()
		const reports = 25
		for range reports {
			recorder.Add(key, load.Report{Clusters: []load.Cluster{{Name: "a", Localities: []load.Locality{{Issued: 2}}}, {Name: "over", Localities: []load.Locality{{Issued: 1}}}}}, time.Second)
			time.Sleep(3 * time.Second)
			synctest.Wait()
		}
		recorder.Add(key, load.Report{Clusters: []load.Cluster{{Name: "a", Localities: []load.Locality{{Issued: 100}}}}}, time.Second)
		before := db.issued
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if db.issued != 2*reports+100 || db.issued-before < 100 {
			t.Errorf("%d requests are written, %d of them before the end", db.issued, before)
		}
		if db.calls < 6 || db.calls > 12 {
			t.Errorf("%d calls in 75 s", db.calls)
		}
		told := map[string]int{}
		for _, c := range db.noted {
			if !c.Called || c.Key != key {
				t.Errorf("noted %+v", c)
			}
			told[c.Cluster]++
		}
		if told["a"] != 1 || told["over"] != 1 || len(told) != 2 {
			t.Errorf("noted %v", told)
		}
		if a, b := strings.Count(out.String(), "is not written"), strings.Count(out.String(), "than there is room for"); a != 1 || b < 1 || b > 2 {
			t.Errorf("%d and %d lines: %s", a, b, out.String())
		}
	})
}
