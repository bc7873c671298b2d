package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// wideAssignment is a load assignment of so many endpoints, as JSON of a document.
func wideAssignment(endpoints int) string {
	var b strings.Builder
	for i := range endpoints {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"endpoint": {"address": {"socket_address": {"address": "10.%d.%d.%d", "port_value": 80}}}}`, i>>16, i>>8&0xff, i&0xff)
	}
	return `{"type": "endpoints", "name": "wide", "body": {"cluster_name": "wide", "endpoints": [{"lb_endpoints": [` + b.String() + `]}]}}`
}

// What is stored as JSON is exported so that apply takes it, however many elements it has: YAML of more than 100,000 of them is refused, and
// whatever has more is a line of JSON between the others.
func TestAWideResourceIsExportedSoThatApplyTakesIt(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("edge", wideAssignment(20_000), "apply", "-f", "-").is(t, exitOK)
	w.on("edge", oneOfAll, "apply", "-f", "-").is(t, exitOK)
	unchanged := "nothing changed; revision 2 is current\n"
	w.on("edge", w.on("edge", "", "export").is(t, exitOK), "apply", "-f", "-").want(t, exitOK, unchanged, "")
	w.on("edge", w.on("edge", "", "get", "endpoints", "wide", "-o", "yaml").is(t, exitOK), "apply", "-f", "-").want(t, exitOK, unchanged, "")
	dir := filepath.Join(w.dir, "edge")
	w.on("edge", "", "export", dir).is(t, exitOK)
	w.on("edge", "", "apply", "-R", "-f", dir).want(t, exitOK, unchanged, "")
	w.on("edge", "", "diff", "-R", "-f", dir).want(t, exitOK, "13 unchanged, on revision 2\n", "")
}
