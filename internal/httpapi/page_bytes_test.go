package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead/internal/fleet"
	"fairlead/internal/store"
)

// pages reads a list to its end and returns the names in it, and how large the largest page is.
func (w *world) pages(path string) (names []string, largest int) {
	w.t.Helper()
	for cursor := ""; ; {
		at := path
		if cursor != "" {
			at += "&cursor=" + url.QueryEscape(cursor)
		}
		var page struct {
			Items      []struct{ Name string } `json:"items"`
			NextCursor string                  `json:"next_cursor"`
		}
		a := w.do(http.MethodGet, at, "").is(200, &page)
		largest = max(largest, len(a.body))
		if len(page.Items) == 0 && page.NextCursor != "" {
			w.t.Fatalf("%s: an empty page", at)
		}
		for _, item := range page.Items {
			names = append(names, item.Name)
		}
		if cursor = page.NextCursor; cursor == "" {
			return names, largest
		}
	}
}

// manyStatuses is a stored cluster that has so many values of an enum, each a byte there and 20 where it is told: from before that was bounded.
func manyStatuses(name string, values int) []byte {
	field := func(out []byte, number protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(out, number, protowire.BytesType), value)
	}
	filter := field(nil, 1, bytes.Repeat([]byte{7}, values)) // PERMISSION_DENIED
	config := field(field(nil, 1, []byte("type.googleapis.com/envoy.config.accesslog.v3.GrpcStatusFilter")), 2, filter)
	const typedExtensionProtocolOptions = 36
	return field(field(nil, 1, []byte(name)), typedExtensionProtocolOptions, field(field(nil, 1, []byte("x")), 2, config))
}

// stored writes clusters past all that looks at documents.
func (w *world) stored(names []string, body func(name string) []byte) {
	w.t.Helper()
	for _, name := range names {
		c := store.ResourceChange{Type: fleet.Cluster, Name: name, Body: body(name)}
		c.BodyHash = sha256.Sum256(c.Body)
		c.DocHash, c.Version = c.BodyHash, hex.EncodeToString(c.BodyHash[:8])
		_, err := w.store.Apply(w.t.Context(), w.tenant.ID, w.fleet.ID, store.Write{Changes: []store.ResourceChange{c}})
		must(w.t, err)
	}
}

// TestT09_PagesAreBoundedInBytes: however many items a page may have, and whatever they grow by when they are told. All pages together have each item once.
func TestT09_PagesAreBoundedInBytes(t *testing.T) {
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
