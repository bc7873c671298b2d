package conformance_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"fairlead/internal/xds/conformance"
	"fairlead/internal/xds/xdstest"
)

var update = flag.Bool("update", false, "write docs/protocol.md anew")

const page = "../../../docs/protocol.md"

// TestDifferential runs every check against our server and against go-control-plane's
// caches, and compares what came of it with the table in docs/protocol.md.
func TestDifferential(t *testing.T) {
	t.Parallel()
	var lists [][]trial
	for i := range contenders() {
		lists = append(lists, trials(i))
	}
	verdicts := judge(t.Context(), t, lists, hang)
	for x, why := range verdicts {
		if why != "" {
			t.Logf("%s, %s, %s: %s", contenders()[x.Contender].name, conformance.Checks()[x.Check], x.Variant, why)
		}
	}
	got := write(verdicts)
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("docs/protocol.md is not what the checks say; look at the difference, then run this test with -update:\n%s", difference(string(want), got))
	}
}

const preface = `# The protocol, rule by rule

What the xDS protocol asks of a server is written here as rules, and what each rule asks for as checks. A check is a script of a client that talks to
a server over gRPC, in package ` + "`internal/xds/conformance`" + `. The same scripts are run against Fairlead and against the two caches of
go-control-plane v0.14.0, the library that most control planes are built on. To read a line: the check applies to so many of the four variants of
the protocol. These are state of the world (SotW) and incremental (delta), each over ADS, and each with a stream per type. "4 of 4" passed in each, "fails: ..." names those in
which it did not; "-" does not apply, and the note says why. Rule 27 is of polls over REST ([rest.md](rest.md)): there is one variant, and beside it stands go-control-plane's HTTPGateway over a SnapshotCache.

The table is made by a test, and kept true by it: ` + "`go test ./internal/xds/conformance -run TestDifferential -update`" + ` writes this page again, and without
` + "`-update`" + ` the test fails if the page says anything else. Fairlead's checks are tests of their own besides, ` + "`go test ./internal/xds -run TestRule`" + `.
Time is that of a ` + "`testing/synctest`" + ` bubble, so that "nothing came for a minute" is certain and costs nothing.

go-control-plane is set up as its documentation says. It has the ADS flag and ordered ADS for ADS, and nodes are told apart by their ids. Legacy
wildcards are switched off for the types that have none. Heartbeats come every 3 s where a TTL is 9 s. A SnapshotCache gets for each type a version that
is the type's content. (With the ADS flag that cache answers a request of names only if it names every resource of the type. Its documentation says
so, and it fails where a rule asks for something else. Without the flag it passes a few checks of names more, and fails others.) A LinearCache
holds one type: nine of them stand behind one MuxCache, which is not ordered and does not claim to be.
A check that it fails can still be a choice that suits its users. The rules are what the protocol's document says and what Envoy was seen to need. Where the
document is silent, they are what we hold to be safe. A node stays the same for the life of a stream (the document finds it sufficient to look at the
first message). xDS v2 is refused by name. A refused content is never sent again.

## Errors of resources

` + "`" + `resource_errors` + "`" + ` say why a client is not sent a resource, in both protocols. No feature of the protocol tells which clients read them, so they go to those that say so in their
node's metadata, ` + "`" + `fairlead: {resource_errors: true}` + "`" + `, and to no Envoy, which ends no wait by them. What a client has something of is told of in no error: it would count until the resource is sent again.

| code | of |
|---|---|
| ` + "`" + `NOT_FOUND` + "`" + ` | a name of which the fleet has nothing for this node. In delta it stands there in the place of ` + "`" + `removed_resources` + "`" + `; what the client had is removed |
| ` + "`" + `FAILED_PRECONDITION` + "`" + ` | what is withheld, with the reason that the receipt has: ` + "`" + `withheld, missing: it names routes/r, which does not exist for this node` + "`" + ` |
| ` + "`" + `PERMISSION_DENIED` + "`" + ` | ` + "`" + `*` + "`" + ` of secrets, which nobody may have all |
| ` + "`" + `RESOURCE_EXHAUSTED` + "`" + ` | in delta, a name that was not taken up, as it is too long or there are too many |

Each is told once, and again when it is asked for again in delta, or when the reason is another one. A response has 1,000 and 256 KiB of them at most; the others follow its ACK. A name that is missing beside the wildcard is told in delta alone. One that is given up beside it is in no error.

`

// write makes the page.
func write(verdicts map[trial]string) string {
	var b strings.Builder
	b.WriteString(preface)
	b.WriteString("## The rules\n\n")
	for n, r := range conformance.Rules {
		fmt.Fprintf(&b, "- **%d** %s.\n", n, r.Title)
	}
	b.WriteString("\n## The checks\n\n| Rule | What it shows | Test |")
	var rule strings.Builder
	rule.WriteString("|---|---|---|")
	for _, c := range contenders() {
		b.WriteString(" " + c.name + " |")
		rule.WriteString("---|")
	}
	b.WriteString("\n" + rule.String() + "\n")
	var notes []string
	for i, c := range conformance.Checks() {
		fmt.Fprintf(&b, "| %d | %s | `TestRule%02d%s/%s` |", c.Rule, c.Shows, c.Rule, conformance.Rules[c.Rule].Name, c.Name)
		for j, x := range contenders() {
			why, no := x.leaves(c)
			if !no {
				b.WriteString(" " + cell(verdicts, j, i, c) + " |")
				continue
			}
			if !slices.Contains(notes, why) {
				notes = append(notes, why)
			}
			fmt.Fprintf(&b, " -[^%d] |", slices.Index(notes, why)+1)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%s\n\n", totals(verdicts))
	for i, n := range notes {
		fmt.Fprintf(&b, "[^%d]: %s.\n", i+1, strings.ToUpper(n[:1])+n[1:])
	}
	return b.String()
}

// cell is "4 of 4", or the variants that failed.
func cell(verdicts map[trial]string, contender, check int, c conformance.Check) string {
	var failed []string
	for _, v := range c.Variants() {
		if why, ran := verdicts[trial{contender, check, v}]; !ran || why != "" {
			failed = append(failed, v.String())
		}
	}
	n := len(c.Variants())
	switch len(failed) {
	case 0:
		return fmt.Sprintf("%d of %d", n, n)
	case n:
		return fmt.Sprintf("fails: all %d", n)
	}
	return "fails: " + strings.Join(failed, ", ")
}

// totals counts checks that passed in each variant to which they apply.
func totals(verdicts map[trial]string) string {
	var all []string
	for j, x := range contenders() {
		passed, applied := 0, 0
		for i, c := range conformance.Checks() {
			if _, no := x.leaves(c); no {
				continue
			}
			applied++
			if !slices.ContainsFunc(c.Variants(), func(v xdstest.Protocol) bool {
				why, ran := verdicts[trial{j, i, v}]
				return !ran || why != ""
			}) {
				passed++
			}
		}
		all = append(all, fmt.Sprintf("%s %d of %d", x.name, passed, applied))
	}
	return "Passed in every variant, of those that apply: " + strings.Join(all, ", ") + "."
}

// difference are the lines that differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	var b strings.Builder
	for _, l := range w {
		if !slices.Contains(g, l) {
			b.WriteString("- " + l + "\n")
		}
	}
	for _, l := range g {
		if !slices.Contains(w, l) {
			b.WriteString("+ " + l + "\n")
		}
	}
	return b.String()
}
