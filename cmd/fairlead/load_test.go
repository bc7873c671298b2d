package main

import "testing"

const (
	goldenLoad = `{"items": [{"cluster": "shop", "minute": "2026-01-04T03:04:00Z", "issued": 1200, "successful": 1190, "errors": 7, "dropped": 3}], "left_out": 0}`
	minuteLoad = `{"items": [{"cluster": "shop", "minute": "2026-01-04T03:04:00Z", "issued": 20, "successful": 19, "errors": 1, "dropped": 0, "in_progress": 2.5}], "left_out": 4}`
)

func TestLoadCommand(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/load", ok(goldenLoad), ok(minuteLoad), ok(`{"items": [], "left_out": 0}`))
	w.run("load").want(t, 0, "CLUSTER  ISSUED  SUCCESSFUL  ERRORS  DROPPED  NEWEST\nshop     1200    1190        7       3        2026-01-04 03:04:00Z\n", "")
	w.run("load", "shop").want(t, 0, "MINUTE                ISSUED  SUCCESSFUL  ERRORS  DROPPED  IN PROGRESS\n2026-01-04 03:04:00Z  20      19          1       0        2.5\n",
		"warning: parts of the last hour's reports that were left out, as they are over the limits: 4; numbers may be too low\n")
	w.run("load", "shop").want(t, 0, "no proxy has reported requests to the cluster in the last hour\n", "")
}

// The JSON is that of the items, whatever was left out.
func TestLoadAsJSON(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/load", ok(`{"items": [], "left_out": 4}`))
	w.run("load", "--json").want(t, 0, "{\n  \"items\": []\n}\n", "")
}
