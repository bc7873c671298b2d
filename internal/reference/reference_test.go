package reference_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/reference"
)

func contract(t *testing.T) *openapi3.T {
	t.Helper()
	spec, err := oapi.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// get asks a page that is made of the contract.
func get(t *testing.T, spec *openapi3.T, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := reference.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

// article is the part of the page with this address.
func article(t *testing.T, page, id string) string {
	t.Helper()
	_, after, found := strings.Cut(page, `<article id="`+id+`">`)
	text, _, closed := strings.Cut(after, "</article>")
	if !found || !closed {
		t.Errorf("the page has no %s", id)
	}
	return text
}

func TestThePageHasAllOfTheContract(t *testing.T) {
	t.Parallel()
	spec := contract(t)
	page := get(t, spec, http.MethodGet, "/docs").Body.String()
	articles := len(spec.Components.Schemas)
	for path, item := range spec.Paths.Map() {
		for method, op := range item.Operations() {
			articles++
			text := article(t, page, "op-"+op.OperationID)
			bare := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, ""))
			for _, want := range []string{method, path, op.Summary, "curl "} {
				if !strings.Contains(bare, want) {
					t.Errorf("%s: the page lacks %q", op.OperationID, want)
				}
			}
			for status := range op.Responses.Map() {
				if !strings.Contains(text, `<th scope="row">`+status+`</th>`) {
					t.Errorf("%s: the page lacks the answer %s", op.OperationID, status)
				}
			}
			for _, ref := range append(item.Parameters, op.Parameters...) {
				if !strings.Contains(text, "<dt><code>"+ref.Value.Name+"</code>") {
					t.Errorf("%s: the page lacks the parameter %s", op.OperationID, ref.Value.Name)
				}
			}
		}
	}
	for name, ref := range spec.Components.Schemas {
		text := article(t, page, "schema-"+name)
		for member := range ref.Value.Properties {
			if !strings.Contains(text, "<dt><code>"+member+"</code>") {
				t.Errorf("%s: the page lacks the member %s", name, member)
			}
		}
	}
	if got := strings.Count(page, "<article "); got != articles {
		t.Errorf("the page has %d parts, the contract %d", got, articles)
	}
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	page := get(t, contract(t), http.MethodGet, "/docs").Body.String()
	links := regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1)
	for _, m := range links {
		switch id, inside := strings.CutPrefix(m[1], "#"); {
		case inside && !strings.Contains(page, `id="`+id+`"`):
			t.Errorf("%s leads nowhere", m[1])
		case !inside && m[1] != "/openapi.yaml" && m[1] != "/docs.css" && m[1] != "/icon.svg":
			t.Errorf("%s is no part of the server", m[1])
		}
	}
	if len(links) < 100 {
		t.Errorf("the page has %d links", len(links))
	}
}

func TestThePageRunsNothing(t *testing.T) {
	t.Parallel()
	spec := contract(t)
	for _, path := range reference.Paths() {
		w := get(t, spec, http.MethodGet, path)
		csp := w.Header().Get("Content-Security-Policy")
		if w.Code != http.StatusOK || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		if !strings.HasPrefix(csp, "default-src 'none'; style-src 'self';") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "script-src") {
			t.Errorf("%s: %s", path, csp)
		}
		for _, bad := range []string{`(?i)<script`, `(?i)<style`, `(?i) style=`, `(?i) on[a-z]+=`, `(?i)javascript:`} {
			if m := regexp.MustCompile(bad).FindString(w.Body.String()); m != "" {
				t.Errorf("%s has %q", path, m)
			}
		}
		if head := get(t, spec, http.MethodHead, path); head.Body.Len() != 0 || head.Header().Get("Content-Length") == "0" {
			t.Errorf("HEAD %s: %d bytes", path, head.Body.Len())
		}
	}
}

// What the contract says is text, wherever it stands.
func TestDescriptionsAreText(t *testing.T) {
	t.Parallel()
	spec := contract(t)
	const said = "first `a<b` **strong <i>** *soft* 2 * 3\n\nsecond <script>x</script>"
	op := spec.Paths.Find("/v1/whoami").Get
	op.Description, op.Summary, op.Parameters = said, "<b>summary</b>", openapi3.Parameters{
		{Value: &openapi3.Parameter{Name: "<u>", In: "query", Description: said, Example: "<example>", Required: true, Schema: &openapi3.SchemaRef{Value: &openapi3.Schema{
			Type: &openapi3.Types{"string"}, Format: "<format>", Pattern: "<pattern>", Enum: []any{"<one>"}, Default: "<default>",
		}}}},
	}
	text := article(t, get(t, spec, http.MethodGet, "/docs").Body.String(), "op-whoami")
	want := "<p>first <code>a&lt;b</code> <strong>strong &lt;i&gt;</strong> <em>soft</em> 2 * 3</p>\n<p>second &lt;script&gt;x&lt;/script&gt;</p>"
	if !strings.Contains(text, want) {
		t.Errorf("the description is not rendered as %s:\n%s", want, text)
	}
	if m := regexp.MustCompile(`<(b|u|i|script|format|pattern|one|default|example)>`).FindString(text); m != "" {
		t.Errorf("%s is markup:\n%s", m, text)
	}
}

func TestWhatHasNoPlaceIsAnError(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*openapi3.T){
		"an operation of no tag":         func(s *openapi3.T) { s.Paths.Find("/v1/whoami").Get.Tags = nil },
		"a tag that nobody describes":    func(s *openapi3.T) { s.Tags = s.Tags[1:] },
		"a method that it does not list": func(s *openapi3.T) { s.Paths.Find("/v1/whoami").Trace = s.Paths.Find("/v1/whoami").Get },
	} {
		spec := contract(t)
		spoil(spec)
		if _, err := reference.New(spec); err == nil {
			t.Errorf("%s: the page leaves it out", name)
		}
	}
}
