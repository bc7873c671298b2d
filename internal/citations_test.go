package internal_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the code cites by number is in the repository: these are the pages, by the word that
// stands before a number in a citation.
const (
	semanticsPage = "docs/semantics.md" // SEMANTICS 3.8d, or SEMANTICS 6 for a section; TestLine5_3
	protocolPage  = "docs/protocol.md"  // rule 13; TestRule13
	threatsPage   = "docs/threats.md"   // T41; TestT41
)

// threats is how many docs/threats.md lists: T01, T02 and so on.
const threats = 49

// packed is a line of bytes as base64, such as the contract in the generated server: its letters cite nothing.
var packed = regexp.MustCompile(`(?m)^\s*"[A-Za-z0-9+/=]{40,}",?$`)

var (
	sectionHead  = regexp.MustCompile(`(?m)^## (\d+)\. `)
	ruleHead     = regexp.MustCompile(`(?m)^ *- \*\*(\d+(?:\.\d+[a-z]?)?)\*\* `)
	threatRow    = regexp.MustCompile(`(?m)^\| (T\d\d) \|(.*)\|(.*)\|(.*)\|$`)
	triedRow     = regexp.MustCompile(`(?m)^\| (T\d\d) \|.*\| (.*) \| .* \|$`)
	testNamed    = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	testFunc     = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
	lineEnd      = regexp.MustCompile(`\r?\n[ +-]?[ \t]*(?://|--|#)?[ \t]*`)
	citesRule    = regexp.MustCompile(`\bSEMANTICS((?:(?: |, | and | or | to )\d+(?:\.\d+[a-z]?)?)+)`)
	citesXDS     = regexp.MustCompile(`\b(?:[Rr]ules?|PROTOCOL)((?:(?: |, | and | or | to )\d+)+)\b`)
	citesThreat  = regexp.MustCompile(`\bT(\d\d)\b`)
	citesPage    = regexp.MustCompile(`\b(?:[A-Z][A-Z-]{3,}\.md\b|(?:DESIGN|POSTGRES|SECURITY|ENVOY|STYLE)(?:: | \d|, [a-z"]| T\d\d))`)
	number       = regexp.MustCompile(`\d+(?:\.\d+)?[a-z]?`)
	nameOfTest   = regexp.MustCompile(`\b(?:Test|Fuzz)\w+`)
	citedByTest  = regexp.MustCompile(`T(\d\d)(?:\D|$)`)
	testOfARule  = regexp.MustCompile(`^TestRule(\d\d)`)
	likeAThreat  = regexp.MustCompile(`T\d\d`)
	testOfALine  = regexp.MustCompile(`^TestLine(\d+)_(\d+)`)
	citingFiles  = []string{".go", ".sql", ".md", ".yaml", ".yml", ".patch", ".js"}
	citesUnknown = []string{ // files that may cite what is not here; an entry that is needed no more is one too many
		"internal/replica/envoy_test.go",
	}
)

// beginsCitations are words of which one stands where a citation begins, that of a threat apart.
var beginsCitations = []string{"SEMANTICS", "ule", "PROTOCOL", "Test", "Fuzz", ".md", "DESIGN", "POSTGRES", "SECURITY", "ENVOY", "STYLE"}

// mayCite is a text without the lines that neither begin a citation nor go on with one: the expressions below would take half a
// minute for all of the tree under the race detector.
func mayCite(text string) string {
	var b strings.Builder
	rest := 0 // of a citation, in lines
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(beginsCitations, func(word string) bool { return strings.Contains(line, word) }) || likeAThreat.MatchString(line) {
			rest = 3
		}
		if rest > 0 {
			b.WriteString(line)
			rest--
		}
	}
	return b.String()
}

// citations are the pages' entries that a text cites: "3.8d", "rule 13", "T41", and the names
// of pages that are none.
func citations(text string) []string {
	text = lineEnd.ReplaceAllString(packed.ReplaceAllString(mayCite(text), ""), " ")
	var found []string
	for _, m := range citesRule.FindAllStringSubmatch(text, -1) {
		found = append(found, number.FindAllString(m[1], -1)...)
	}
	for _, m := range citesXDS.FindAllStringSubmatch(text, -1) {
		for _, n := range number.FindAllString(m[1], -1) {
			found = append(found, "rule "+n)
		}
	}
	for _, m := range citesThreat.FindAllStringSubmatch(text, -1) {
		found = append(found, "T"+m[1])
	}
	for _, name := range nameOfTest.FindAllString(text, -1) {
		if m := testOfARule.FindStringSubmatch(name); m != nil {
			found = append(found, "rule "+strings.TrimPrefix(m[1], "0"))
		}
		if m := testOfALine.FindStringSubmatch(name); m != nil {
			found = append(found, m[1]+"."+m[2])
		}
		for _, m := range citedByTest.FindAllStringSubmatch(name, -1) {
			found = append(found, "T"+m[1])
		}
	}
	return append(found, citesPage.FindAllString(text, -1)...)
}

// entries are what may be cited, with the text of each.
func entries(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	semantics := pageText(t, semanticsPage)
	for _, m := range sectionHead.FindAllStringSubmatch(semantics, -1) {
		all[m[1]] = ""
	}
	maps.Copy(all, rules(semantics, ""))
	maps.Copy(all, rules(pageText(t, protocolPage), "rule "))
	for _, m := range threatRow.FindAllStringSubmatch(pageText(t, threatsPage), -1) {
		all[m[1]] = m[4]
	}
	for _, name := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} {
		all[name] = ""
	}
	return all
}

// rules are the numbered items of a list with their texts.
func rules(page, prefix string) map[string]string {
	all := map[string]string{}
	heads := ruleHead.FindAllStringSubmatchIndex(page, -1)
	for i, h := range heads {
		end := len(page)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		all[prefix+page[h[2]:h[3]]] = page[h[1]:end]
	}
	return all
}

func pageText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWhatIsCitedIsThere: every rule and threat that a file of this repository cites by its
// number stands in one of the pages.
func TestWhatIsCitedIsThere(t *testing.T) {
	t.Parallel()
	there := entries(t)
	missing := map[string][]string{}
	walk(t, func(name, text string) {
		for _, c := range citations(text) {
			if _, ok := there[c]; !ok && !slices.Contains(missing[name], c) {
				missing[name] = append(missing[name], c)
			}
		}
	})
	for _, name := range citesUnknown {
		if missing[name] == nil {
			t.Errorf("%s cites nothing unknown any more: take it out of the list", name)
		}
		delete(missing, name)
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("%s cites %q, which is neither in %s nor in %s nor in %s", name, missing[name], semanticsPage, protocolPage, threatsPage)
	}
}

// walk gives every file that may cite something, this one apart.
func walk(t *testing.T, visit func(name, text string)) {
	t.Helper()
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains([]string{"node_modules", "bin"}, d.Name()) || strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains(citingFiles, path.Ext(name)) || name == "internal/citations_test.go":
			return nil
		}
		text, err := os.ReadFile(file)
		if err == nil {
			visit(name, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The check itself can fail: these are citations, however they are written.
func TestCitationsAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"// blamed (SEMANTICS 3.8d).":                         "3.8d",
		"// what (SEMANTICS\n\t// 9.9) says":                  "9.9",
		"SEMANTICS 5.3, 5.5: a node":                          "5.3 5.5",
		"of SEMANTICS 5 and 6).":                              "5 6",
		"SEMANTICS 5.3 to 5.5 in one statement":               "5.3 5.5",
		"-- a hash (SEMANTICS 3.4).":                          "3.4",
		"(PROTOCOL\n// rules 1 and 2).":                       "rule 1 rule 2",
		"+// is answered (rule 13).":                          "rule 13",
		"PROTOCOL 7":                                          "rule 7",
		"what one says (T41), T07":                            "T41 T07",
		"func TestT18_T19_Bombs(":                             "T18 T19",
		"`TestT31OneConnection`, TestSoakT40_Largest":         "T31 T40",
		"TestRule05MissingNames":                              "rule 5",
		"TestLine4_3_AVariantCounts":                          "4.3",
		"// see PLANS.md":                                     "PLANS.md",
		"// SECURITY T30: each":                               "T30 SECURITY T30",
		"// DESIGN 6: every key":                              "DESIGN 6",
		"leakproof (POSTGRES, \"Tenancy\").":                  "POSTGRES, \"",
		"LANGUAGE sql SECURITY DEFINER SET":                   "",
		"ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY": "",
		"the rules 200 times, UTF8, T1 and T100, rule of two": "rule 200",
	} {
		if got := strings.Join(citations(text), " "); got != want {
			t.Errorf("%q cites %q, want %q", text, got, want)
		}
	}
}

// TestEveryRuleHasItsTest: every rule of docs/semantics.md names tests that are there, or says
// that it has none.
func TestEveryRuleHasItsTest(t *testing.T) {
	t.Parallel()
	tests := testsOfTheTree(t)
	all := rules(pageText(t, semanticsPage), "")
	for _, n := range slices.Sorted(maps.Keys(all)) {
		complain(t, n, all[n], "No test", tests)
	}
}

// testList is what stands behind a rule and is not read as one.
var testList = regexp.MustCompile("(?s)\\bTests:\\s+`.*")

// TestTheRulesOfRepairAreShort: section 3 of the page is read by who has a proxy that refuses something, so it has no more words than one reads at
// once. Lists of tests do not count; what only a maintainer needs is in docs/planner.md.
func TestTheRulesOfRepairAreShort(t *testing.T) {
	t.Parallel()
	page := pageText(t, semanticsPage)
	begin, end := strings.Index(page, "## 3. "), strings.Index(page, "## 4. ")
	if begin < 0 || end < begin {
		t.Fatal("there is no section 3")
	}
	section := page[begin:end]
	preface, _, _ := strings.Cut(section, "\n- **3.")
	words := len(strings.Fields(preface))
	for n, text := range rules(section, "") {
		count := len(strings.Fields(testList.ReplaceAllString(text, "")))
		if words += count; count > 90 {
			t.Errorf("%s has %d words, of 90 at most", n, count)
		}
	}
	if words > 800 || words < 100 {
		t.Errorf("section 3 has %d words, of 800 at most", words)
	}
}

// TestEveryThreatHasItsTest: docs/threats.md has one row for each threat, in order, and every test
// that it names is there. What has no test says what is open.
func TestEveryThreatHasItsTest(t *testing.T) {
	t.Parallel()
	tests := testsOfTheTree(t)
	rows := threatRow.FindAllStringSubmatch(pageText(t, threatsPage), -1)
	for i, row := range rows {
		if want := fmt.Sprintf("T%02d", i+1); row[1] != want {
			t.Errorf("the row of %s stands where that of %s belongs", row[1], want)
		}
		complain(t, row[1], row[4], "Open", tests)
	}
	if len(rows) != threats {
		t.Errorf("the page has %d rows, want %d", len(rows), threats)
	}
}

// TestEveryThreatWasTried: docs/security.md tells of each threat whether it is held, or what is missing, and what an attack saw.
func TestEveryThreatWasTried(t *testing.T) {
	t.Parallel()
	rows := triedRow.FindAllStringSubmatch(pageText(t, "docs/security.md"), -1)
	for i, row := range rows {
		if want := fmt.Sprintf("T%02d", i+1); row[1] != want {
			t.Errorf("the row of %s stands where that of %s belongs", row[1], want)
		}
		if holds := row[2]; holds != "held" && !strings.HasPrefix(holds, "part: ") {
			t.Errorf("%s: %q is neither \"held\" nor \"part: \" with what is missing", row[1], holds)
		}
	}
	if len(rows) != threats {
		t.Errorf("the page has %d rows, want %d", len(rows), threats)
	}
}

// complain looks at the tests that an entry names; unless it has the words it must name one.
func complain(t *testing.T, entry, text, without string, tests map[string]bool) {
	t.Helper()
	named := testNamed.FindAllStringSubmatch(text, -1)
	if len(named) == 0 && !strings.Contains(text, without) {
		t.Errorf("%s names no test and does not say %q", entry, without)
	}
	for _, n := range named {
		if !tests[n[1]] {
			t.Errorf("%s names the test %s, which there is not", entry, n[1])
		}
	}
}

// testsOfTheTree are the names of all tests of this module.
func testsOfTheTree(t *testing.T) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	walk(t, func(name, text string) {
		if strings.HasSuffix(name, "_test.go") {
			for line := range strings.Lines(text) {
				if f := testFunc.FindStringSubmatch(line); f != nil {
					tests[f[1]] = true
				}
			}
		}
	})
	return tests
}
