package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"

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
