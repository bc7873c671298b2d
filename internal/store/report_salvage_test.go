package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/internal/fleet"
)

// refusal is one of a version of revision 1.
func refusal(node, name string) fleet.Refusal {
	return fleet.Refusal{Node: node, Type: fleet.Cluster, Name: name, Version: "v", Revision: 1, Detail: "no", At: time.Now()}
}

// T45: what a node says of itself is measured in the form in which it is stored. What has no
// such form, or too large a one, is left out, and nobody else hears of it.
func TestT45_LabelsAreMeasuredAsTheyAreStored(t *testing.T) {
	many := func(n int, value string) string {
		fields := make([]string, n)
		for i := range fields {
			fields[i] = fmt.Sprintf(`"k%d":%s`, i, value)
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	w := setup(t)
	s := w.server("s")
	for name, c := range map[string]struct {
		metadata, want string // what is read back; "": it is left out
	}{
		"ordinary":             {`{"a":"<b>","n":1.50,"t":true,"o":{"x":null}}`, `{"a": "<b>", "n": 1.50, "o": {"x": null}, "t": true}`},
		"none":                 {`{}`, `{}`},
		"numbers print long":   {many(450, "1e+308"), ""},
		"numbers print small":  {many(450, "5e-324"), ""},
		"a number beyond all":  {`{"n":1e200000}`, ""},
		"an exponent too long": {`{"n":1e99999999999999999999}`, ""},
		"a few large numbers":  {`{"n":1e20}`, `{"n": 100000000000000000000}`},
		"texts that print long": {
			many(30, `"`+strings.Repeat(`\u0001`, 100)+`"`), ""},
		"NUL":                   {`{"a\u0000b":"x\u0000y"}`, "{\"a\uFFFDb\": \"x\uFFFDy\"}"},
		"an escaped backslash":  {`{"a":"\\u0000"}`, `{"a": "\\u0000"}`},
		"half a surrogate":      {`{"a":"x\ud800y"}`, "{\"a\": \"x\uFFFDy\"}"},
		"too deep":              {strings.Repeat(`{"a":`, 7000) + "1" + strings.Repeat("}", 7000), ""},
		"as deep as can be":     {`{"a":` + strings.Repeat("[", 4000) + strings.Repeat("]", 4000) + "}", `{"a": ` + strings.Repeat("[", 4000) + strings.Repeat("]", 4000) + "}"},
		"deeper than JSON goes": {`{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}", ""},
		"no JSON":               {`{"a"`, ""},
		"no object":             {`[1]`, ""},
		"two":                   {`{} {}`, ""},
		"no UTF-8":              {"{\"a\":\"\xff\"}", "{\"a\": \"\uFFFD\"}"},
	} {
		bad, good := on("bad "+name), on("good "+name)
		bad.Labels = &fleet.NodeLabels{Region: "eu", MetadataJSON: []byte(c.metadata)}
		s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{good, bad}})
		var got, region string
		var cut bool
		w.ok(w.super.QueryRow(t.Context(), `SELECT coalesce(labels->>'metadata', ''), coalesce((labels->>'cut')::boolean, false), labels->>'region'
			FROM nodes WHERE node_id = $1`, bad.Node).Scan(&got, &cut, &region))
		if got != c.want || cut != (c.want == "") || region != "eu" {
			t.Errorf("%s: stored as %.80q, cut %v, region %q, want %.80q", name, got, cut, region, c.want)
		}
		if w.count(`SELECT count(*) FROM node_status WHERE node_id = $1`, good.Node) != 1 {
			t.Errorf("%s: another node is not recorded", name)
		}
	}
	if told := w.events(""); len(told) > 0 {
		t.Errorf("rows were refused: %q", told)
	}
}

// T45: rows that the database refuses for a reason that nobody has thought of do not stop a
// report: they are found, left out and told, and all others are written.
func TestT45_ARowThatIsRefusedStopsNoReport(t *testing.T) {
	w := setup(t)
	w.apply(put(fleet.Cluster, "c", "1"))
	w.exec(`ALTER TABLE nodes ADD CHECK (cluster <> 'poison'), ADD CHECK (node_id NOT LIKE 'poison%')`)
	w.exec(`ALTER TABLE nack_texts ADD CHECK (text <> 'poison')`)
	w.exec(`ALTER TABLE refusals ADD CHECK (name <> 'poison')`)
	s := w.server("s")
	r := fleet.Status{Settled: 1, Delivered: []fleet.Delivered{{Revision: 1, Affected: 1, Acked: 1}}, Lasting: []string{"n1", "n2"}}
	const nodes = 60
	for i := range nodes {
		n := on(fmt.Sprint("n", i))
		switch i {
		case 7, 50:
			n.Cluster = "poison"
			n.Settled = settled(0)
		case 20:
			n.Node = "poison \x01 ä"
		}
		r.Nodes = append(r.Nodes, n)
		r.Refusals = append(r.Refusals, refusal(fmt.Sprint("n", i), "x"))
	}
	r.Refusals[3].Detail = "poison"
	r.Refusals[30].Name = "poison"
	s.report(r)
	for what, want := range map[string]int{
		`SELECT count(*) FROM node_status`:                                     nodes - 1, // all but the one with that id
		`SELECT count(*) FROM nodes WHERE NOT coalesce(labels ? 'cut', false)`: nodes - 2, // n20 is named by its refusal
		`SELECT count(*) FROM refusals`:                                        nodes - 1,
		`SELECT settled FROM server_settled`:                                   1,
		`SELECT count(*) FROM delivery`:                                        1,
		`SELECT settled FROM node_status WHERE node_id = 'n50'`:                0,
		`SELECT count(*) FROM refusals JOIN nack_texts ON hash = text_hash WHERE node_id = 'n3' AND text = ''`: 1,
	} {
		if got := w.count(what); got != want {
			t.Errorf("%s is %d, want %d", what, got, want)
		}
	}
	told := slices.DeleteFunc(w.events(""), func(e string) bool { return !strings.HasPrefix(e, "dropped") })
	if len(told) != 1 || !strings.Contains(told[0], "5 rows in all") || !strings.Contains(told[0], "23514") {
		t.Errorf("it is told as %q", told)
	}
	s.report(fleet.Status{Settled: 1, Nodes: []fleet.NodeStatus{{Node: "poison", Connected: true}}}) // once an hour
	if n := w.count(`SELECT count(*) FROM node_events WHERE kind = 'dropped'`); n != 1 {
		t.Errorf("told %d times", n)
	}
	w.is(w.node.Report(t.Context(), fleet.Status{Key: fleet.Key{Tenant: w.tenant, Fleet: fleet.NewID()}, Server: s.id, Term: s.term, Settled: 1}), fleet.ErrNotFound)
}

// Rows of which something is left out never make a node seem further than it is: until all
// rows that stand beside the server's settled revision are written, that does not rise.
func TestAPartOfAReportRaisesNothing(t *testing.T) {
	w := setup(t)
	s := w.server("s")
	at := func() int { return w.count(`SELECT settled FROM server_settled`) }
	for i, c := range []struct {
		settled fleet.Revision
		partial bool
		want    int
	}{{5, true, 0}, {5, false, 5}, {7, true, 5}, {3, true, 3}, {4, false, 4}, {2, false, 2}} { // it may be lower after a failover
		if s.report(fleet.Status{Settled: c.settled, Partial: c.partial}); at() != c.want {
			t.Errorf("%d: after %+v it is %d", i, c, at())
		}
	}
}
