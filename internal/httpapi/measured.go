package httpapi

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"fairlead/internal/metrics"
)

// measured counts the requests of each operation, and how long their answers took. It stands within logged, which knows the answer.
func (a *API) measured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.metrics.Begin()
		begun := time.Now()
		defer func() {
			answer := metrics.Answer{Operation: a.operationOf(r), Problem: note(r).code, Took: time.Since(begun), Lasting: w.Header().Get("Content-Type") == eventStreamType}
			if ww, ok := w.(middleware.WrapResponseWriter); ok {
				answer.Status = ww.Status()
			}
			if answer.Status == 0 { // nothing was written, which net/http answers with 200
				answer.Status = http.StatusOK
			}
			a.metrics.End(answer)
		}()
		next.ServeHTTP(w, r)
	})
}

// operationOf is the id of the operation that the router has matched; "" if it was none. A HEAD is the GET that it is answered like.
func (a *API) operationOf(r *http.Request) string {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return a.operations[method+" "+route(r.Context())].id
}
