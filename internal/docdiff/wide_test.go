package docdiff

import (
	"fmt"
	"strings"
	"testing"
)

// TestT19_WideDifferencesAreBounded: of documents with many keys each is looked up once, and the places of many changes below a
// long key end where there is no more room for them.
func TestT19_WideDifferencesAreBounded(t *testing.T) {
	t.Parallel()
	doc := func(key string, n, value int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%07d":%d`, i, value)
		}
		return []byte(`{"` + key + `":{` + b.String()[1:] + `}}`)
	}
	const n = 40_000 // the square of it takes half a minute
	d, err := Compare(doc("a", n, 1), doc("a", n, 2))
	if err != nil {
		t.Fatal(err)
	}
	if all, whole := d.Changes(1 << 30); len(all) != n || !whole {
		t.Errorf("%d changes, whole %t", len(all), whole)
	}
	if text := d.Unified("a", "b", Context); strings.Count(text, "\n-") != n {
		t.Errorf("%d lines", strings.Count(text, "\n"))
	}
	const most = 1 << 20
	d, err = Compare(doc(strings.Repeat("k", 4<<10), n, 1), doc(strings.Repeat("k", 4<<10), n, 2))
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	all, whole := d.Changes(most)
	for _, c := range all {
		size += len(c.Pointer)
	}
	if whole || size > most+5<<10 {
		t.Errorf("%d bytes of pointers, whole %t", size, whole)
	}
}
