package envoyconfig_test

import (
	"fmt"
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
		"sources in each other":      cluster(nested("api_config_source", many("{}"))),
		"subsets below a long name":  cluster(`{"` + long + `":{"default_subset":[` + many(`{"a":1}`) + `]}}`),
		"paths below a long name":    `{"dynamic_resources":{"` + long + `":[` + many(`{"path":"x"}`) + `]}}`,
	} {
		n, result := took(t, in)
		if n > most {
			t.Errorf("%s: a byte of the text took %d bytes", name, n)
		}
		for _, l := range result.Left {
			if len(l.What) > 200 {
				t.Errorf("%s: %.80s... is told", name, l.What)
			}
		}
	}
}

// took is what Read takes of the heap for each byte of a text.
func took(t *testing.T, in string) (perByte uint64, r envoyconfig.Result) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := envoyconfig.Read([]byte(in), envoyconfig.Options{RDS: true, EDS: true})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	return (after.TotalAlloc - before.TotalAlloc) / uint64(len(in)), r
}

// TestT19_LongNamesAreReadAtWhatTheyAreLong: the name of a resource stands before each thing that is told of it.
func TestT19_LongNamesAreReadAtWhatTheyAreLong(t *testing.T) { // not parallel: all that the process takes is counted
	const size, most = 64 << 10, 1200 // as in TestT19_WideTextsAreReadAtWhatTheyAreLong
	long := strings.Repeat("n", 2*size)
	times := func(form string, n int) string { return strings.Repeat(form+",", n-1) + form }
	many := func(form string) string { return times(form, size/len(form)) }
	for name, in := range map[string]string{
		"sources":   `{"static_resources":{"clusters":[{"name":"` + long + `","metadata":{"filter_metadata":{"x":{"y":[` + many(`{"api_config_source":{"a":1}}`) + `]}}}}]}}`,
		"files":     `{"static_resources":{"clusters":[{"name":"` + long + `","metadata":{"filter_metadata":{"x":{"y":[` + many(`{"trusted_ca":{"filename":"x"}}`) + `]}}}}]}}`,
		"routes":    `{"static_resources":{"listeners":[{"name":"` + long + `","metadata":{"filter_metadata":{"x":{"y":[` + times(`{"@type":"x.HttpConnectionManager","route_config":{}}`, 150) + `]}}}}]}}`,
		"endpoints": `{"configs":[{"@type":"type.googleapis.com/envoy.admin.v3.EndpointsConfigDump","dynamic_endpoint_configs":[{"endpoint_config":{"cluster_name":"` + long + `","endpoints":[{"lb_endpoints":[` + many(`{"health_status":"DEGRADED"}`) + `]}]}}]}]}`,
	} {
		n, r := took(t, in)
		if n > most {
			t.Errorf("%s: a byte of the text took %d bytes", name, n)
		}
		for _, l := range r.Left {
			if len(l.What) > 600 {
				t.Errorf("%s: %.80s... is told", name, l.What)
			}
		}
	}
}

// TestT19_WhatIsMadeAndToldIsBounded: a part of three bytes, such as a certificate beside one with its key, may become a resource with a long name, of which more is told.
func TestT19_WhatIsMadeAndToldIsBounded(t *testing.T) {
	t.Parallel()
	const size, most = 256 << 10, 16
	name := strings.Repeat("n", 480)
	many := func(form string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			fmt.Fprintf(&b, form+",", i)
		}
		return strings.TrimSuffix(b.String(), ",")
	}
	in := func(meta string) string {
		return `{"static_resources":{"listeners":[{"name":"` + name + `","metadata":{"filter_metadata":{"x":` + meta + `}}}]}}`
	}
	for what, text := range map[string]string{
		"certificates": in(`{"tls_certificates":[{"private_key":{"inline_string":"k"}}` + strings.Repeat(",{}", size/3) + `]}`),
		"routes":       in(`{"y":[` + many(`{"@type":"x.HttpConnectionManager","route_config":{"a":%d}}`) + `]}`),
		"numbers":      `{"static_resources":{"clusters":[{"name":"c","lb_subset_config":{"default_subset":{` + many(`"%d":1e300`) + `}}}]}}`,
		"faults":       `{"static_resources":{"clusters":[` + many(`{"name":"`+name+`%d","a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}`) + `]}}`,
		"listeners":    `{"static_resources":{"listeners":[` + many(`{"stat_prefix":"%d"}`) + `]}}`,
	} {
		r, err := envoyconfig.Read([]byte(text), envoyconfig.Options{RDS: true, EDS: true})
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for _, d := range r.Documents {
			bytes += len(d.Name) + len(d.Body)
		}
		for _, l := range r.Left {
			bytes += len(l.What) + len(l.Why)
		}
		told := r.Told()
		if t.Logf("%s: %d bytes become %d, in %d resources, %d left out, %d notes", what, len(text), bytes, len(told.Resources), len(told.LeftOut), len(told.Notes)); bytes > most*len(text) {
			t.Errorf("%s: %d bytes become %d", what, len(text), bytes)
		}
		if len(told.LeftOut) == 0 && (what == "certificates" || what == "faults") {
			t.Errorf("%s: nothing is left out", what)
		}
	}
}

// TestT19_LinesBehindMergeKeysAreFoundAtOnce: of each thing that is told the line is looked up, also where a merge key brings it from many objects.
func TestT19_LinesBehindMergeKeysAreFoundAtOnce(t *testing.T) { // not parallel: likewise
	const objects, faults, most = 2000, 100, 1200
	var clusters []string
	for i := range faults {
		clusters = append(clusters, fmt.Sprintf("{name: c%d, %s}", i, "a1: 1, a2: 1, a3: 1, a4: 1, a5: 1, a6: 1, a7: 1, a8: 1, a9: 1, b1: 1, b2: 1, b3: 1, b4: 1, b5: 1, b6: 1, b7: 1, b8: 1, b9: 1"))
	}
	in := "<<: [" + strings.Repeat("{}, ", objects) + "{static_resources: {clusters: [" + strings.Join(clusters, ", ") + "]}}]\n"
	n, r := took(t, in)
	if len(r.Left) < faults {
		t.Fatalf("only %d things are told", len(r.Left))
	}
	plain, _ := took(t, "static_resources: {clusters: ["+strings.Join(clusters, ", ")+"]}\n")
	if n > 2*max(plain, most) {
		t.Errorf("a byte of the text took %d bytes, and %d without the merge key", n, plain)
	}
}
