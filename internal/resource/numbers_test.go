package resource_test

import (
	"bytes"
	"fmt"
	"testing"

	"fairlead/internal/resource"
)

// TestTheEndsOfNumbersComeBack: what is stored is shown in a form that is accepted again, and is the same then; what is beyond is refused before it is decoded.
func TestTheEndsOfNumbersComeBack(t *testing.T) {
	t.Parallel()
	doc := func(kind, value string) string {
		return fmt.Sprintf("{type: extensions, name: a, body: {name: a, typed_config: {'@type': type.googleapis.com/google.protobuf.%s, value: %s}}}", kind, value)
	}
	for _, c := range []struct {
		kind          string
		taken, beyond []string
	}{
		{"FloatValue", []string{"3.4028234663852886e38", "3.4028235e+38", "-3.4028235e38", "1.401298464324817e-45", "16777217", `"-Infinity"`}, []string{`"NaN"`, ".nan", "3.4028236e38", "-3.5e38", "1e39"}},
		{"DoubleValue", []string{"1.7976931348623157e308", "-1.7976931348623157e+308", "5e-324", `"Infinity"`, "0.1"}, []string{"1.7976931348623159e308", "1e309", `"NaN"`, ".NaN"}},
		{"Int32Value", []string{"2147483647", "-2147483648", "2.147483647e9"}, []string{"2147483648", "-2147483649", "2147483648.0", "0.5"}},
		{"UInt32Value", []string{"4294967295", "4.294967295e9"}, []string{"4294967296", "-1", "4294967296.0"}},
		{"Int64Value", []string{"9223372036854775807", "-9223372036854775808", `"9223372036854775807"`, "1e18"}, []string{"9223372036854775808", "-9223372036854775809", "9.223372036854775808e18"}},
		{"UInt64Value", []string{"18446744073709551615", `"18446744073709551615"`, "1e19"}, []string{"18446744073709551616", "1.8446744073709551616e19", "-1"}},
	} {
		for _, value := range c.taken {
			first := mustCompile(t, doc(c.kind, value))
			shown, err := resource.Render(first.Type, first.Value)
			if err != nil {
				t.Fatal(err)
			}
			again, err := compile(fmt.Sprintf("{type: extensions, name: a, body: %s}", shown))
			if err != nil || !bytes.Equal(again.Value, first.Value) {
				t.Errorf("%s of %s is shown as %s: %v", value, c.kind, shown, err)
			}
		}
		for _, value := range c.beyond {
			_, err := compile(doc(c.kind, value))
			if got := found(t, err); len(got) != 1 || got[0] != "wrong_type /body/typed_config/value" {
				t.Errorf("%s of %s: %v", value, c.kind, err)
			}
		}
	}
}

// TestNaNPassesNoRange: it is neither below nor above the ends of a range.
func TestNaNPassesNoRange(t *testing.T) {
	t.Parallel()
	const cluster = "{type: clusters, name: a, body: {name: a, type: STATIC, connect_timeout: 1s, %s}}"
	for field, where := range map[string]string{
		"common_lb_config: {healthy_panic_threshold: {value: %s}}":                        "/body/common_lb_config/healthy_panic_threshold/value",
		"preconnect_policy: {per_upstream_preconnect_ratio: %s}":                          "/body/preconnect_policy/per_upstream_preconnect_ratio",
		"circuit_breakers: {thresholds: [{retry_budget: {budget_percent: {value: %s}}}]}": "/body/circuit_breakers/thresholds/0/retry_budget/budget_percent/value",
	} {
		for _, value := range []string{".nan", `"NaN"`} {
			_, err := compile(fmt.Sprintf(cluster, fmt.Sprintf(field, value)))
			if got := found(t, err); len(got) != 1 || got[0] != "wrong_type "+where {
				t.Errorf("%s of %s: %v", value, field, got)
			}
		}
		mustCompile(t, fmt.Sprintf(cluster, fmt.Sprintf(field, "2.5")))
	}
}
