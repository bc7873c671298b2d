//go:build !race || soak

// What is here reads megabytes byte by byte, of one command after the other: the race detector takes minutes for it and has nothing
// to see. "make test" runs it without.

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// wideAssignment is a load assignment of so many endpoints, as JSON of a document.
func wideAssignment(name string, endpoints int) string {
	var b strings.Builder
	for i := range endpoints {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"endpoint": {"address": {"socket_address": {"address": "10.%d.%d.%d", "port_value": 80}}}}`, i>>16, i>>8&0xff, i&0xff)
	}
	return `{"type": "endpoints", "name": "` + name + `", "body": {"cluster_name": "` + name + `", "endpoints": [{"lb_endpoints": [` + b.String() + `]}]}}`
}

// wideCluster is a cluster of 900,000 bytes.
func wideCluster(name string) string {
	return `{"type": "clusters", "name": "` + name + `", "body": {"name": "` + name + `", "metadata": {"filter_metadata": {"x": {"k": "` + strings.Repeat("x", 900_000) + `"}}}}}`
}

// What is stored as JSON is exported so that apply takes it, however many elements it has: YAML of more than 100,000 of them is refused, and
// whatever has more is a line of JSON between the others.
func TestLargeAWideResourceIsExportedSoThatApplyTakesIt(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.on("edge", wideAssignment("wide", 9_091), "apply", "-f", "-").is(t, exitOK)
	w.on("edge", oneOfAll, "apply", "-f", "-").is(t, exitOK)
	unchanged := "nothing changed; revision 2 is current\n"
	w.on("edge", w.on("edge", "", "export").is(t, exitOK), "apply", "-f", "-").want(t, exitOK, unchanged, "")
	w.on("edge", w.on("edge", "", "get", "endpoints", "wide", "-o", "yaml").is(t, exitOK), "apply", "-f", "-").want(t, exitOK, unchanged, "")
	dir := filepath.Join(w.dir, "edge")
	w.on("edge", "", "export", dir).is(t, exitOK)
	w.on("edge", "", "apply", "-R", "-f", dir).want(t, exitOK, unchanged, "")
	w.on("edge", "", "diff", "-R", "-f", dir).want(t, exitOK, "13 unchanged, on revision 2\n", "")
}

// TestLargeAFileOfManyResourcesIsReadOnce: what a file costs does not grow with its resources and its length at once. Each place that is told
// was looked for from the beginning of the file, which took hours for these.
func TestLargeAFileOfManyResourcesIsReadOnce(t *testing.T) {
	t.Parallel()
	const many, twice = 50_000, 1_000
	var docs []string
	for i := range many {
		docs = append(docs, fmt.Sprintf(`{"type": "clusters", "name": "c%05d", "body": {"name": "c%05d", "alt_stat_name": %q}}`, i, i, strings.Repeat("x", 250)))
	}
	bundled := func(docs []string) *bundle {
		d, wrong := source{name: "many.json", data: []byte("{\"resources\": [" + strings.Join(docs, ",\n") + "]}")}.documents()
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		b, wrong := newBundle(d)
		if len(wrong) > 0 {
			t.Fatal(wrong)
		}
		return b
	}
	parts, err := bundled(docs).parts()
	written := 0
	for _, p := range parts {
		written += len(p.resources.items)
	}
	if err != nil || written != many {
		t.Errorf("%d resources in %d parts, want %d: %v", written, len(parts), many, err)
	}
	_, err = bundled(append(docs, docs[:twice]...)).parts()
	var wrong faults
	if !errors.As(err, &wrong) || len(wrong) != twice || !strings.HasPrefix(wrong[0], "many.json:50001: ") || !strings.Contains(wrong[0], "is named twice") {
		t.Errorf("%d of %d are told as named twice: %v", len(wrong), twice, err)
	}
}

// What comes to more than one apply may be is written in parts: listeners after all that they name, deletions last. Each command finds
// the same parts, and what is written already is unchanged.
func TestLargeWhatIsTooMuchForOneApplyIsWrittenInParts(t *testing.T) {
	t.Parallel()
	w := live(t)
	var docs []string
	for i := range 6 {
		docs = append(docs, wideCluster(fmt.Sprint("c", i)))
	}
	const listener = `{"type": "listeners", "name": "l", "body": {"name": "l", "address": {"socket_address": {"address": "0.0.0.0", "port_value": 8080}}}}`
	all := `{"resources": [` + listener + "," + strings.Join(docs, ",") + `]}`
	parts := "part 1 of 3: 2 resources\npart 2 of 3: 2 resources\npart 3 of 3: 3 resources\n"

	// A part that is refused ends it, and what is written by then is told.
	broken := w.on("edge", strings.Replace(all, `"port_value": 8080`, `"port_value": 80800`, 1), "apply", "-f", "-")
	if broken.code != exitFailed || broken.out != "revision 1: 2 resources changed\nrevision 2: 2 resources changed\n" ||
		!strings.HasPrefix(broken.err, parts+"2 parts of 3 written, up to revision 2; ") || !strings.Contains(broken.err, "standard input:1: /resources/0/body/address/socket_address/port_value: ") {
		t.Fatalf("%d\n%s\n%s", broken.code, broken.out, broken.err)
	}
	unchanged := strings.Repeat("nothing changed; revision 3 is current\n", 3)
	if out := w.on("edge", all, "apply", "-f", "-").is(t, exitOK); !strings.HasSuffix(out, "revision 2 is current\nrevision 3: 3 resources changed\n") {
		t.Error(out)
	}
	w.on("edge", w.on("edge", "", "export").is(t, exitOK), "apply", "-f", "-").want(t, exitOK, unchanged, parts)
	w.on("edge", w.on("edge", "", "export", "--json").is(t, exitOK), "apply", "-f", "-").want(t, exitOK, unchanged, parts)
	w.on("edge", all, "diff", "-f", "-").want(t, exitOK, strings.Repeat("2 unchanged, on revision 3\n", 2)+"3 unchanged, on revision 3\n", parts)
	w.bare(all, "validate", "-f", "-").want(t, exitOK, "the API would take 7 documents\n", "")

	promote := func(args ...string) result {
		t.Helper()
		return w.bare("", append([]string{"promote", "--from", "edge", "--to", "prod", "--server", w.url, "--token-file", w.tokenFile(), "--tenant", "acme"}, args...)...)
	}
	w.on("prod", `{"type": "clusters", "name": "old", "body": {"name": "old"}}`, "apply", "-f", "-").is(t, exitOK)
	dry := promote("--dry-run", "--prune")
	lines := strings.Split(strings.TrimSpace(dry.is(t, exitOK)), "\n")
	token := lines[len(lines)-1]
	if strings.Count(token, "plan-") != 4 || !strings.HasSuffix(dry.err, "part 4 of 4: 1 deletion\n") {
		t.Fatalf("%s\n%s", token, dry.err)
	}
	promote("--prune", "--plan", strings.Split(token, ",")[0]).want(t, exitUsage, "", "prune: clusters/old\nfairlead: --plan is of a plan in 1 part, and these files come to 4: plan them again\n")
	if out := promote("--prune", "--plan", token).is(t, exitOK); out != "revision 2: 2 resources changed\nrevision 3: 2 resources changed\nrevision 4: 3 resources changed\nrevision 5: 1 resource changed\n" {
		t.Error(out)
	}
	promote("--prune").is(t, exitOK)
	w.on("prod", "", "history", "-n", "5").is(t, exitOK)

	// What one apply refuses is refused of parts too.
	if r := w.on("edge", strings.Replace(all, `"name": "c5"`, `"name": "c0"`, 1), "apply", "-f", "-"); r.code != exitFailed || !strings.Contains(r.err, "clusters/c0 is named twice") {
		t.Errorf("%+v", r)
	}
	if r := w.on("edge", strings.Replace(all, `{"resources"`, `{"expected_revision": 3, "resources"`, 1), "apply", "-f", "-"); r.code != exitUsage || !strings.Contains(r.err, "have no expected_revision of their own") {
		t.Errorf("%+v", r)
	}
	w.on("edge", all, "apply", "-f", "-", "--expected-revision", "2").is(t, exitFailed)
	w.on("edge", all, "apply", "-f", "-", "--expected-revision", "3").want(t, exitOK, unchanged, parts)
}

// A fleet whose references are strict takes parts too: what is named is in an earlier part, of the same type as well, and a plan of a part
// knows the parts before it. What none of them has is told before anything is written.
func TestLargePartsKeepStrictReferences(t *testing.T) {
	t.Parallel()
	w := live(t)
	const (
		aggregate = `{"type": "clusters", "name": "all", "body": {"name": "all", "lb_policy": "CLUSTER_PROVIDED", "cluster_type": {"name": "envoy.clusters.aggregate", "typed_config": {
			"@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters": ["c5", "c0"]}}}}`
		route = `{"type": "routes", "name": "r", "body": {"name": "r", "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "%s"}}]}]}}`
	)
	fleetOf := func(to string) string {
		docs := []string{fmt.Sprintf(route, to), aggregate}
		for i := range 6 {
			docs = append(docs, wideCluster(fmt.Sprint("c", i)))
		}
		return `{"resources": [` + strings.Join(docs, ",") + `]}`
	}
	for _, name := range []string{"edge", "prod"} {
		w.on(name, "", "fleet", "--references", "strict").is(t, exitOK)
	}
	w.on("prod", `{"resources": [{"type": "clusters", "name": "old", "body": {"name": "old"}}, `+fmt.Sprintf(route, "old")+`]}`, "apply", "-f", "-").is(t, exitOK)

	missing := w.on("edge", fleetOf("nowhere"), "diff", "-f", "-")
	if missing.code != exitTrouble || !strings.Contains(missing.err, "the fleet edge is strict about references, and would refuse this part: routes/r names clusters/nowhere, which neither the fleet nor an earlier part has") {
		t.Errorf("%d %s", missing.code, missing.err)
	}
	plan := w.on("edge", fleetOf("all"), "diff", "-f", "-")
	if plan.code != exitDiffers || strings.Contains(plan.err, "error: ") {
		t.Fatalf("%d %s", plan.code, plan.err)
	}
	lines := strings.Split(strings.TrimSpace(plan.out), "\n")
	w.on("edge", fleetOf("all"), "apply", "-f", "-", "--plan", lines[len(lines)-1]).is(t, exitOK)

	promote := func(args ...string) result {
		t.Helper()
		return w.bare("", append([]string{"promote", "--from", "edge", "--to", "prod", "--prune", "--server", w.url, "--token-file", w.tokenFile(), "--tenant", "acme"}, args...)...)
	}
	promote("--dry-run").is(t, exitOK)
	promote().is(t, exitOK)
	if out := w.on("prod", "", "get", "clusters", "-o", "name").is(t, exitOK); strings.Contains(out, "clusters/old") || !strings.Contains(out, "clusters/all") {
		t.Error(out)
	}
}
