package envoyconfig_test

import (
	"runtime"
	"strings"
	"testing"

	"fairlead/internal/envoyconfig"
)

// TestT19_WideTextsAreReadAtWhatTheyAreLong: what is taken of the heap to read a text is bounded by its length, whatever stands side by side or in each other.
// Counted are bytes and not time.
func TestT19_WideTextsAreReadAtWhatTheyAreLong(t *testing.T) { // not parallel: all that the process takes is counted
	const size, most = 64 << 10, 1200 // a byte takes up to 940, as an object has two of them
	many := func(form string) string { return strings.Repeat(form+",", size/len(form)) + form }
	nested := func(field, inner string) string {
		return strings.Repeat(`{"`+field+`":`, 50) + `{"` + field + `":[` + inner + `]}` + strings.Repeat("}", 50)
	}
	cluster := func(meta string) string {
		return `{"static_resources":{"clusters":[{"name":"c","metadata":{"filter_metadata":{"x":` + meta + `}}}]}}`
	}
	long := strings.Repeat("k", 3900)
	for name, in := range map[string]string{
		"secrets in each other":      cluster(nested("token_secret", many("{}"))),
		"certificates in each other": cluster(nested("tls_certificates", many("{}"))),
		"sources below a long name":  cluster(`{"` + long + `":[` + many(`{"api_config_source":{"a":1}}`) + `]}`),
		"files below a long name":    cluster(`{"` + long + `":[` + many(`{"trusted_ca":{"filename":"x"}}`) + `]}`),
		"paths below a long name":    `{"dynamic_resources":{"` + long + `":[` + many(`{"path":"x"}`) + `]}}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		result, err := envoyconfig.Read([]byte(in), envoyconfig.Options{RDS: true, EDS: true})
		runtime.ReadMemStats(&after)
		if took := (after.TotalAlloc - before.TotalAlloc) / uint64(len(in)); took > most || err != nil {
			t.Errorf("%s: a byte of the text took %d bytes, %v", name, took, err)
		}
		for _, l := range result.Left {
			if len(l.What) > 200 {
				t.Errorf("%s: %.80s... is told", name, l.What)
			}
		}
	}
}
