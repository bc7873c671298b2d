//go:build !race || soak

package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead/internal/httpapi/oapi"
)

// Answers of many megabytes, which one goroutine after the other writes and reads: the race detector makes seconds of them minutes, and
// has the same handlers in all other tests.

// TestLargeT09_PagesAreBoundedInBytes: however many items a page may have, and whatever they grow by when they are told. All pages together have each item once.
func TestLargeT09_PagesAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		many int
		body func(string) []byte
	}{
		"large as they are stored": {18, func(name string) []byte { return manyStatuses(name+strings.Repeat("x", 1_000_000), 1) }},
		"large as they are told":   {4, func(name string) []byte { return manyStatuses(name, 200_000) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.unpaced(1)
			var want []string
			for i := range c.many {
				want = append(want, fmt.Sprintf("c%02d", i))
			}
			w.stored(want, c.body)
			w.stored([]string{"last"}, func(name string) []byte { return manyStatuses(name, 1) })
			want = append(want, "last")
			must(t, w.nodes.Report(t.Context(), w.settledNode(w.fleet.ID, "n", 0))) // a node that has nothing yet
			for list, path := range map[string]string{
				"resources":         w.at("resources") + "?limit=500",
				"of a type":         w.at("resources", "clusters") + "?limit=500",
				"of a revision":     w.at("resources") + "?limit=500&revision=" + fmt.Sprint(c.many+1),
				"a comparison":      w.at("compare") + "?limit=500&from=0",
				"a node's, bodies":  w.at("nodes", "n", "config") + "?limit=500&bodies=true",
				"without bodies":    w.at("resources") + "?limit=500&bodies=false",
				"without, and then": w.at("resources") + "?limit=500&bodies=false&revision=" + fmt.Sprint(c.many+1),
			} {
				got, largest := w.pages(path)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q", list, got)
				}
				if largest > answerBytes+6<<20 {
					t.Errorf("%s: a page of %d bytes", list, largest)
				}
			}
		})
	}
}

// TestLargeT09_PagesOfReasonsAreBoundedInBytes, and all pages together have each name once.
func TestLargeT09_PagesOfReasonsAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprint("c", 10+i))
	}
	w.manyVariants(101, names...)
	var got []string
	for cursor := ""; ; {
		a := w.do(http.MethodGet, w.at("nodes", "n", "why")+"?limit=500&cursor="+url.QueryEscape(cursor), "")
		var page oapi.NodeReasons
		a.is(200, &page)
		if len(a.body) > 11<<20 || len(page.Items) == 0 {
			t.Errorf("a page of %d items has %d bytes", len(page.Items), len(a.body))
		}
		got = append(got, each(page.Items, func(i oapi.NodeReason) string { return i.Resource.Name })...)
		if page.NextCursor == nil {
			break
		}
		cursor = *page.NextCursor
	}
	if d := cmp.Diff(names, got); d != "" {
		t.Error(d)
	}
}

// A plan that is too large says so of what it leaves out, and still counts it.
func TestLargePlanLeavesDifferencesOut(t *testing.T) {
	t.Parallel()
	w := setup(t)
	var docs []string
	for i := range 5 {
		name := fmt.Sprintf("c%d", i)
		docs = append(docs, named("clusters", name, fmt.Sprintf(`{"name": %q, "metadata": {"filter_metadata": {"x": {"y": %q}}}}`, name, strings.Repeat("z", 700<<10))))
	}
	a := w.do(http.MethodPost, w.at("plan"), applyOf(docs...))
	var p oapi.Plan
	a.is(200, &p)
	told := 0
	for _, r := range p.Resources {
		if r.Diff != nil && r.Changes != nil && r.Omitted == nil {
			told++
		} else if !deref(r.Omitted) || r.Diff != nil || r.Changes != nil || r.Action != oapi.Create {
			t.Errorf("%+v", r)
		}
	}
	if told != 2 || p.Counts.Create != 5 || len(a.body) > maxDiffs+1<<20 {
		t.Errorf("%d of them are told, in %d bytes: %+v", told, len(a.body), p.Counts)
	}
	w.do(http.MethodPost, w.at("apply"), withMember(applyOf(docs...), "plan", p.Token)).is(200, nil)
}
