package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-chi/chi/v5"

	"fairlead/internal/httpapi/oapi"
)

// promises are headers by which a client asks not to be harmed: where one is not honoured it
// must not be passed over. An operation that honours one lists it in openapi.yaml.
var promises = []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range", "Idempotency-Key"}

// parameters are what an operation takes beside its path and its body, by name.
type parameters struct {
	query   []string
	headers []string // of promises
	// revisions are those of the path and the query that are the number of a revision.
	revisions []string
	// filled are those of the query that cannot be empty.
	filled []string
}

func parametersOf(lists ...openapi3.Parameters) (p parameters) {
	for _, list := range lists {
		for _, ref := range list {
			if schema := ref.Value.Schema; schema != nil && schema.Value.Format == revisionFormat {
				p.revisions = append(p.revisions, ref.Value.Name)
			}
			switch name := ref.Value.Name; ref.Value.In {
			case openapi3.ParameterInQuery:
				p.query = append(p.query, name)
				if s := ref.Value.Schema.Value; !s.Type.Is("string") || len(s.Enum) > 0 || s.MinLength > 0 || s.Pattern != "" {
					p.filled = append(p.filled, name)
				}
			case openapi3.ParameterInHeader:
				p.headers = append(p.headers, http.CanonicalHeaderKey(name))
			}
		}
	}
	slices.Sort(p.query)
	return p
}

// known refuses what the operation does not know, so that nothing that was asked for is
// passed over: a server that ignores ?dry_run=true writes.
func (a *API) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if faults := append(emptyParts(r), a.operation(r).unknown(r)...); len(faults) > 0 {
			fail(w, r, refuse(http.StatusBadRequest, "invalid_request", faults[0].Detail, boundFaults(faults)...))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// emptyParts are those of the path that are to be names, and between whose slashes nothing stands.
func emptyParts(r *http.Request) (faults []oapi.FieldError) {
	at := chi.RouteContext(r.Context())
	for i, name := range at.URLParams.Keys {
		if at.URLParams.Values[i] == "" {
			faults = append(faults, headerFault(name, "required", fmt.Sprintf("nothing stands in the path where {%s} belongs: %s", name, at.RoutePattern())))
		}
	}
	return faults
}

func (p parameters) unknown(r *http.Request) (faults []oapi.FieldError) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return []oapi.FieldError{{Code: "malformed", Detail: "the query cannot be read: it is name=value, joined by &, with what is not a letter or a digit percent-encoded"}}
	}
	for name, values := range query {
		switch {
		case slices.Contains(p.filled, name) && slices.Contains(values, ""):
			faults = append(faults, headerFault(name, "too_short", "the value is empty: give one, or leave the parameter out"))
		case !slices.Contains(p.query, name):
			name = shortened(name, maxName)
			faults = append(faults, headerFault(name, "unknown_parameter", "this operation has no such query parameter: "+p.there(name)))
		}
	}
	slices.SortFunc(faults, func(a, b oapi.FieldError) int { return strings.Compare(*a.Parameter, *b.Parameter) })
	for _, name := range promises {
		if len(r.Header.Values(name)) > 0 && !slices.Contains(p.headers, name) {
			faults = append(faults, headerFault(name, "unknown_parameter", "this operation does not honour the header "+name+": leave it out"))
		}
	}
	return faults
}

// there says what there is instead.
func (p parameters) there(name string) string {
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	switch {
	case plain == "dryrun":
		return "to see what an apply would do and write nothing, POST it to .../plan"
	case len(p.query) == 0:
		return "it has none"
	}
	return "it has " + strings.Join(p.query, ", ")
}

// shortened cuts what a client sent to what an answer repeats of it.
func shortened(s string, most int) string {
	if s = strings.ToValidUTF8(s, "\uFFFD"); len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	return s
}
