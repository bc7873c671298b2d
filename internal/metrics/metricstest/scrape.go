package metricstest

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"fairlead/internal/metrics"
)

// Text is a scrape.
func Text(t testing.TB, r *metrics.Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("a scrape is answered %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// Value is that of one series, as the text names it: `name` or `name{label="value"}`, with its labels by name. There must be one.
func Value(t testing.TB, r *metrics.Registry, series string) float64 {
	t.Helper()
	text := Text(t, r)
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				t.Fatalf("%s is %q", series, rest)
			}
			return v
		}
	}
	t.Fatalf("there is no %s in\n%s", series, text)
	return 0
}

// Want fails if these series have other values.
func Want(t testing.TB, r *metrics.Registry, want map[string]float64) {
	t.Helper()
	for series, value := range want {
		if got := Value(t, r, series); got != value {
			t.Errorf("%s is %v, want %v", series, got, value)
		}
	}
}
