package httpapi

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/reference"
)

// TestDocsShowWhatTheServerAnswersBy: the page needs no token, its policy allows no script, and it shows the
// document at /openapi.yaml, no more and no less.
func TestDocsShowWhatTheServerAnswersBy(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, path := range reference.Paths() {
		a := w.do(http.MethodGet, path, "", "Authorization", "").is(200, nil)
		if csp := a.header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none';") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "script-src") {
			t.Errorf("%s: %s", path, csp)
		}
	}
	page := string(w.do(http.MethodGet, "/docs", "", "Authorization", "").is(200, nil).body)
	served, err := openapi3.NewLoader().LoadFromData(w.do(http.MethodGet, "/openapi.yaml", "", "Authorization", "").is(200, nil).body)
	must(t, err)
	operations := 0
	for path, item := range served.Paths.Map() {
		for method, op := range item.Operations() {
			operations++
			if !strings.Contains(page, `<article id="op-`+op.OperationID+`">`) {
				t.Errorf("the page lacks %s %s", method, path)
			}
			// Of the whole document: what is taken from it for the server's own use must not lack on the page.
			if body := strings.Contains(article(page, "op-"+op.OperationID), "<h4>Body</h4>"); body != (op.RequestBody != nil) {
				t.Errorf("%s %s: the page has a body: %t", method, path, body)
			}
		}
	}
	if got := strings.Count(page, `<article id="op-`); got != operations || operations < 40 {
		t.Errorf("the page has %d operations, the document %d", got, operations)
	}
	for name := range served.Components.Schemas {
		if !strings.Contains(page, `<article id="schema-`+name+`">`) {
			t.Errorf("the page lacks the schema %s", name)
		}
	}
}

// article is the part of the page with this address.
func article(page, id string) string {
	_, after, _ := strings.Cut(page, `<article id="`+id+`">`)
	text, _, _ := strings.Cut(after, "</article>")
	return text
}

// The page on the contract has a table of the lists and their filters: all of them.
func TestTheContractPageNamesEachFilter(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/contract.md")
	must(t, err)
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 4 {
			rows[strings.TrimSpace(cells[1])] = cells[2]
		}
	}
	changes := "what a revision changed, or two differ in"
	row := map[string]string{
		"listTenants": "tenants, fleets", "listFleets": "tenants, fleets", "listTokens": "tokens", "listOperatorTokens": "operator tokens", "listCredentials": "node credentials",
		"listResources": "resources, of a fleet or of a type", "listResourcesOfType": "resources, of a fleet or of a type", "listFindings": "findings", "listNodes": "nodes", "listLoad": "load",
		"getNodeConfig": "a node's config", "getNodeWhy": "why a node has what it has", "listEvents": "events of nodes", "getReceipt": "a receipt's nodes",
		"listRevisions": "revisions", "listRevisionChanges": changes, "compareRevisions": changes, "listAudit": "the audit",
		"listServers": "xDS servers",
	}
	// What they have beside filters: where to begin, what to tell of an item, of which time.
	others := []string{"limit", "cursor", "after", "wait", "bodies", "counts", "count", "receipts", "grouped", "format", "revision", "at", "from", "to"}
	spec, err := oapi.GetSpec()
	must(t, err)
	for path, item := range spec.Paths.Map() {
		if item.Get == nil || item.Get.Parameters.GetByInAndName("query", "cursor") == nil {
			continue
		}
		for _, p := range item.Get.Parameters {
			name := p.Value.Name
			if p.Value.In == "query" && !slices.Contains(others, name) && !strings.Contains(rows[row[item.Get.OperationID]], "`"+name) {
				t.Errorf("%s (%s) has the filter %s, and docs/contract.md does not", path, item.Get.OperationID, name)
			}
		}
	}
}
