package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
)

// TestT19_WhatTheContractRefusesCostsItsBytes: however many fields or items a body has that the contract does not know, they are refused at
// what they are long, and an answer tells a hundred of them. To sign in takes no token.
func TestT19_WhatTheContractRefusesCostsItsBytes(t *testing.T) { // not parallel: what is allocated is counted
	k, err := theContract()
	if err != nil {
		t.Fatal(err)
	}
	handler := k.validate(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("what is off the contract is taken") }))
	fields := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":0`, i)
		}
		return b.String()
	}
	const signIn, endpoints = "/v1/session", "/v1/tenants/acme/fleets/edge/endpoints/a"
	for what, x := range map[string]struct{ path, body string }{
		"fields of a sign-in":     {signIn, `{"token":"x"` + fields(6000) + `}`},
		"fields beside endpoints": {endpoints, `{"set":[]` + fields(8000) + `}`},
		"fields of an endpoint":   {endpoints, `{"set":[{"address":"10.0.0.7:80"` + fields(8000) + `}]}`},
		"endpoints":               {endpoints, `{"set":[{}` + strings.Repeat(`,{}`, 400_000) + `]}`},
		"addresses":               {endpoints, `{"remove":[""` + strings.Repeat(`,""`, 400_000) + `]}`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, x.path, strings.NewReader(x.body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		handler.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(16<<20+100*len(x.body)); got > most { //nolint:gosec // a length
			t.Errorf("%s: %d MiB were allocated for a body of %d KiB", what, got>>20, len(x.body)>>10)
		}
		var p oapi.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusBadRequest || p.Errors == nil {
			t.Errorf("%s: %d %v %.200s", what, w.Code, err, w.Body)
			continue
		}
		if n := len(*p.Errors); n < 1 || n > write.MaxFaults+1 {
			t.Errorf("%s: the answer tells %d faults", what, n)
		}
	}
}
