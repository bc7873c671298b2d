package main

import (
	"strings"
	"testing"
)

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

// Of a cluster's endpoints the minutes are added up.
func TestLoadOfEndpoints(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/load", ok(`{"items": [
		{"cluster": "shop", "minute": "2026-01-04T03:04:00Z", "issued": 20, "successful": 19, "errors": 1, "dropped": 0, "endpoints": [
			{"address": "10.0.0.8:80", "locality": {"region": "eu", "zone": "a"}, "issued": 12, "successful": 11, "errors": 1, "in_progress": 0}, {"address": "10.0.0.7:80", "issued": 8, "successful": 8, "errors": 0, "in_progress": 0}]},
		{"cluster": "shop", "minute": "2026-01-04T03:05:00Z", "issued": 5, "successful": 5, "errors": 0, "dropped": 0, "endpoints": [
			{"address": "10.0.0.8:80", "locality": {"region": "eu", "zone": "a"}, "issued": 5, "successful": 5, "errors": 0, "in_progress": 0}]}], "left_out": 0}`),
		ok(minuteLoad), ok(minuteLoad))
	w.run("load", "shop", "--endpoints").want(t, 0, "ENDPOINT     LOCALITY  ISSUED  SUCCESSFUL  ERRORS  NEWEST\n"+
		"10.0.0.7:80  -         8       8           0       2026-01-04 03:04:00Z\n"+
		"10.0.0.8:80  eu/a      17      16          1       2026-01-04 03:05:00Z\n", "")
	if r := w.run("load", "shop", "--endpoints"); r.code != 0 || !strings.Contains(r.out, "has the fleet asked for them?") {
		t.Errorf("without any: %+v", r)
	}
	if r := w.run("load", "shop", "--endpoints", "--json"); r.code != 0 || !strings.Contains(r.out, `"issued": 20`) {
		t.Errorf("as JSON: %+v", r)
	}
	if r := w.run("load", "--endpoints"); r.code != exitUsage || !strings.Contains(r.err, "fairlead load CLUSTER --endpoints") {
		t.Errorf("without a cluster: %+v", r)
	}
}

// The JSON is that of the items, whatever was left out.
func TestLoadAsJSON(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/load", ok(`{"items": [], "left_out": 4}`))
	w.run("load", "--json").want(t, 0, "{\n  \"items\": []\n}\n", "")
}
