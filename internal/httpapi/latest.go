package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"fairlead/internal/fleet"
)

// latestRevision is a word for the newest revision of the fleet, wherever an operation takes the
// number of one: where the schema of a parameter has the format revisionFormat.
const (
	latestRevision = "latest"
	revisionFormat = "revision"
)

// latest puts the number in the place of the word, so that nobody behind it knows the word.
func (a *API) latest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if op := a.operation(r); len(op.revisions) > 0 {
			r = withNumbers(r, op.revisions, callOf(r).fleet.Revision)
		}
		next.ServeHTTP(w, r)
	})
}

func withNumbers(r *http.Request, names []string, newest fleet.Revision) *http.Request {
	number := strconv.FormatInt(int64(newest), 10)
	changed, at := *r, *r.URL
	changed.URL = &at
	if params := &chi.RouteContext(r.Context()).URLParams; slices.Contains(params.Values, latestRevision) {
		segments := strings.Split(at.RawPath, "/")
		for i, step := range strings.Split(route(r.Context()), "/") {
			name := strings.Trim(step, "{}")
			if n := slices.Index(params.Keys, name); name != step && slices.Contains(names, name) && params.Values[n] == latestRevision {
				params.Values[n], segments[i] = number, number
			}
		}
		at.RawPath = strings.Join(segments, "/")
		at.Path, _ = url.PathUnescape(at.RawPath) // it was parsed once
	}
	if query := at.Query(); slices.ContainsFunc(names, func(name string) bool { return slices.Contains(query[name], latestRevision) }) {
		for _, name := range names {
			for i, value := range query[name] {
				if value == latestRevision {
					query[name][i] = number
				}
			}
		}
		at.RawQuery = query.Encode()
	}
	return &changed
}
