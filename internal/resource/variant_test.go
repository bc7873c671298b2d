package resource_test

import (
	"strconv"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// TestVariants: what is wrong with a variant is said with the field and what to do.
func TestVariants(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"variant":"eu","selector":"locality.region=eu"`:               "",
		`"variant":"eu","selector":"locality.region=eu","priority":-7`: "",
		`"variant":"","selector":"","priority":0`:                      "",
		`"variant":"eu"`:                                                    "required /selector: a variant needs a selector",
		`"variant":"eu","priority":1`:                                       "required /selector: a variant needs a selector",
		`"selector":"locality.region=eu"`:                                   "variant_invalid /selector: the default variant",
		`"priority":1`:                                                      "variant_invalid /priority: every variant that matches",
		`"variant":"eu","selector":"region=eu"`:                             "selector_invalid /selector: selector, byte 1: there is no key region",
		`"variant":"eu","selector":"node.id=a b"`:                           "selector_invalid /selector: selector, byte 11: between requirements",
		`"variant":"eu","selector":"node.id","priority":2147483648`:         "wrong_type /priority",
		`"variant":"` + strings.Repeat("v", 129) + `","selector":"node.id"`: "limit /variant",
		`"variant":"\u0000","selector":"node.id"`:                           "invalid_value /variant",
	} {
		d, err := resource.ParseDocument([]byte(`{"type":"clusters","name":"a","body":{},` + in + `}`))
		got := ""
		if err != nil {
			e := err.(resource.Errors)[0] //nolint:errorlint // it is one
			got = e.Code + " " + e.Pointer + ": " + e.Detail
		}
		if want == "" && (err != nil || d.Variant != "" && d.Selector == "") || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestSelectorIsCanonical: another way to write the same selector is no change.
func TestSelectorIsCanonical(t *testing.T) {
	t.Parallel()
	var hashes [][32]byte
	for _, selector := range []string{"node.cluster=b,locality.region in (x, eu)", `locality.region in(eu,x) , node.cluster == "b"`, "node.cluster=b"} {
		d, err := resource.ParseDocument([]byte(`{"type":"clusters","name":"a","variant":"v","selector":` + strconv.Quote(selector) + `,"body":{"name":"a"}}`))
		if err != nil {
			t.Fatal(err)
		}
		c, err := newCompiler().Compile(testKey, d)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, c.DocHash)
	}
	if hashes[0] != hashes[1] || hashes[0] == hashes[2] {
		t.Errorf("the doc hashes %x: want that the first two alone are equal", hashes)
	}
}

// TestVariantIsNotInTheVersion is SEMANTICS 1.1 and 1.2.
func TestVariantIsNotInTheVersion(t *testing.T) {
	t.Parallel()
	compile := func(d resource.Document) resource.Compiled {
		d.Type, d.Name, d.Body = fleet.Cluster, "a", []byte(`{"name":"a"}`)
		c, err := newCompiler().Compile(testKey, d)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	plain := compile(resource.Document{})
	seen := map[[32]byte]bool{plain.DocHash: true}
	for _, d := range []resource.Document{{Variant: "eu", Selector: "node.id"}, {Variant: "us", Selector: "node.id"}, {Variant: "eu", Selector: "node.id=a"}, {Variant: "eu", Selector: "node.id", Priority: 1}} {
		c := compile(d)
		if c.Version != plain.Version || seen[c.DocHash] {
			t.Errorf("%#v: version %s, want %s, and a doc hash of its own", d, c.Version, plain.Version)
		}
		seen[c.DocHash] = true
	}
}

// TestDeletionOfAVariant needs no selector.
func TestDeletionOfAVariant(t *testing.T) {
	t.Parallel()
	a, err := resource.ParseApply([]byte(`{"delete":[{"type":"routes","name":"r","variant":"eu"},{"type":"routes","name":"r"}]}`))
	if err != nil || len(a.Delete) != 2 || a.Delete[0].Variant != "eu" {
		t.Errorf("%v, %v", a.Delete, err)
	}
	_, err = resource.ParseApply([]byte(`{"delete":[{"type":"routes","name":"r","variant":"` + strings.Repeat("v", 129) + `"}]}`))
	if got := found(t, err); len(got) != 1 || got[0] != "limit /delete/0/variant" {
		t.Errorf("a long variant: %v", got)
	}
}
