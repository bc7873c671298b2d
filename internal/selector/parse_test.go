package selector_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/selector"
)

// parse reads a selector that is known to be right.
func parse(t testing.TB, text string) selector.Selector {
	t.Helper()
	s, err := selector.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

func TestCanonicalForm(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for text, want := range map[string]string{
		// Every form of a requirement, every key.
		"node.id":                                  "",
		"!node.id":                                 "",
		"node.cluster=edge":                        "",
		"node.cluster==edge":                       "node.cluster=edge",
		"node.cluster!=edge":                       "",
		"node.id^=edge-":                           "",
		"locality.region in (eu,us)":               "",
		"locality.zone notin (a,b)":                "",
		"locality.sub_zone=a,client.name=envoy":    "client.name=envoy,locality.sub_zone=a",
		"client.version^=1.40.":                    "",
		"metadata.role=canary":                     "",
		`metadata."a.b".c=1`:                       "",
		`metadata.a."".c`:                          "",
		`metadata.Straße-1_x`:                      "",
		"metadata" + strings.Repeat(".a", 16):      "",
		"metadata.in in (in,notin),metadata.notin": "",
		`metadata."a"in("x","y")`:                  "metadata.a in (x,y)",

		// Spaces.
		" \t\r\nnode.id =  a , ! metadata.x\n,locality.region  in( b ,a ) ": "locality.region in (a,b),!metadata.x,node.id=a",

		// Sorted, none twice; one value needs no list.
		"node.id=b,node.cluster=a,node.id=b":                     "node.cluster=a,node.id=b",
		"node.id in (b,a,b)":                                     "node.id in (a,b)",
		"node.id in (a)":                                         "node.id=a",
		"node.id notin (a,a)":                                    "node.id!=a",
		"!metadata.a,metadata.a,metadata.a^=x":                   "metadata.a^=x,metadata.a,!metadata.a",
		"metadata.a!=x,metadata.a=y,metadata.a=x":                "metadata.a=x,metadata.a=y,metadata.a!=x",
		`metadata."a",metadata.a`:                                "metadata.a",
		`node.id="router~10.0.0.1~pod",node.cluster in ("a/b")`:  "node.cluster=a/b,node.id=router~10.0.0.1~pod",
		"node.id=" + long:                                        "",
		"node.id=a+b:c@d%2F#[::1]_-./~":                          "",
		"metadata.a=héllo😀€":                                     "",
		`metadata.a=""`:                                          "",
		`metadata.a in ("",b)`:                                   "",
		`metadata.a="a b"`:                                       "",
		`metadata.a="a,b)=(\"\\'*$"`:                             "",
		`metadata.a="~b"`:                                        "",
		`metadata.a="\"\\\/\b\f\n\r\t\u00e9\u2028\ud83d\ude00z"`: `metadata.a="\"\\/\u0008\u000c\n\r\té\u2028😀z"`,
		`metadata.a="\udb40\udc41"`:                              "",
	} {
		if want == "" {
			want = text // as it is
		}
		s := parse(t, text)
		if s.String() != want {
			t.Errorf("%s is written %s, not %s", text, s, want)
		}
		if again := parse(t, s.String()); again.String() != s.String() {
			t.Errorf("%s is read again as %s", s, again)
		}
	}
}

// Each error names the byte, what is wrong there, and what to write.
func TestErrorsNamePositionAndRemedy(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat("node.id,", 33), ",")
	for _, c := range []struct {
		text string
		at   int
		want string
	}{
		// As a whole.
		{"", 1, "at least one requirement: write one, such as node.cluster=edge, or node.id for every node"},
		{" \n", 3, "leave the selector out for the default variant"},
		{"node.id=" + strings.Repeat("x", 1017), 1025, "at most 1024 bytes, this one 1025: make it shorter"},
		{"node.id=a\xffb", 10, "not UTF-8"},
		{`metadata.a="` + strings.Repeat(`\f`, 200) + `"`, 414, "as they are stored the selector takes 1213 bytes, 1024 is the limit"},
		{many, 257, "at most 32 requirements: join values"},

		// Between requirements.
		{"node.id,", 9, "a requirement is missing: take the comma or ! away"},
		{"node.id,,node.cluster", 9, "a requirement is missing"},
		{",node.id", 1, "a requirement is missing"},
		{"node.id, !", 11, "a requirement is missing"},
		{"node.id)", 8, "after a key stands =, !=, ^=, in (x,y), notin (x,y), a comma or the end"},
		{"node.id=a)", 10, "this ) closes nothing: take it away"},
		{"node.id=a node.cluster=b", 11, "between requirements stands a comma: write one, or put a value with spaces in double quotes"},
		{"node.id=a && node.cluster=b", 11, "between requirements stands a comma"},

		// Keys.
		{"id=a", 1, "there is no key id: the keys are node.id, node.cluster, locality.region, locality.zone, locality.sub_zone, client.name, client.version and metadata.<path>"},
		{"node.id=a,Node.Cluster=b", 11, "there is no key Node.Cluster: the keys are"},
		{`node."id".x`, 1, `there is no key node."id".x`},
		{`node."cluster.x"`, 1, "there is no key"},
		{"node", 1, "there is no key node"},
		{"metadata=a", 1, "metadata is no label: write the path to one, such as metadata.role"},
		{"metadata.=a", 10, "a name is missing after the dot"},
		{"metadata.a..b", 12, "a name is missing after the dot"},
		{"metadata.$x", 10, "in double quotes if it holds more than letters, digits, _ and -"},
		{`"node.id"=a`, 1, `a key does not begin with a quote: write node.id, or metadata."a.b"`},
		{"(node.id)", 1, "a requirement begins with a key, or with one ! and a key: the keys are"},
		{"!!node.id", 2, "with one ! and a key"},
		{"metadata" + strings.Repeat(".a", 17), 42, "at most 16 names: set a label further up"},
		{"metadata.app.example/name=x", 21, `names in a key hold letters, digits, _ and -: put another one in double quotes, as in metadata."app.example/name"`},
		{`metadata."a=b`, 10, "has no end: write a double quote after it"},
		{`metadata.a"b"`, 11, "names in a key hold"},

		// Operators.
		{"node.id a", 9, "after a key stands ="},
		{"node.id IN (a)", 9, "operators are in small letters: write in"},
		{"node.id NotIn (a)", 9, "write notin"},
		{"node.id not in (a)", 9, "write notin (x,y)"},
		{"metadata.n>5", 11, "labels are texts and have no order: write = and the value"},
		{"metadata.n <= 5", 12, "have no order"},
		{"node.id^a", 8, "^ alone is no operator: write ^= for a prefix"},
		{"node.id ! = a", 9, "! alone is no operator"},
		{"node.id ~= a", 9, "~ alone is no operator"},
		{"node.id(a)", 8, "after a key stands"},
		{"!node.id=a", 9, "!node.id asks that there be no such label and takes no value: write node.id!= and the value, or node.id notin (x,y)"},
		{"!node.id in (a)", 10, "takes no value"},

		// Values.
		{"node.id=", 9, `a value is missing: write one, or ""`},
		{"node.id=,node.cluster", 9, "a value is missing"},
		{"node.id==a=b", 11, `= stands in double quotes: write "a=b"`},
		{"node.id===a", 10, `= stands in double quotes: write "=a"`},
		{"node.id=a!=b", 10, `! stands in double quotes: write "a!=b"`},
		{"node.id=edge-*", 14, `* is no wildcard: write ^= for a prefix, or "edge-*" for the character`},
		{"node.id=~edge", 9, `write "~edge", or ^= for a prefix; there is no operator =~`},
		{"node.id=a&b,node.cluster", 10, `& stands in double quotes: write "a&b"`},
		{"node.id=${ID}", 9, `$ stands in double quotes: write "${ID}"`},
		{"node.id=a|b", 10, `| stands in double quotes`},
		{`node.id=a\b`, 10, `write "a\\b"`},
		{"node.id='a'", 9, `texts stand in double quotes: write " instead of '`},
		{"node.id=it's", 11, `write "it's"`},
		{"node.id=“a”", 9, `“ stands in double quotes`},
		{"node.id=a\u00a0b", 10, `U+00A0 cannot be seen: put the value in double quotes and write \u00a0`},
		{`node.id=a"b"`, 10, `" stands in double quotes: put the whole value into them, and write a quote in it as \"`},
		{"node.id=a(b)", 10, "( stands in double quotes"},
		{"node.id=(a,b)", 9, "one value stands after an operator: write in (x,y) or notin (x,y)"},
		{`node.id="a"b`, 12, "after a quoted value stands a comma, a ) or the end"},
		{`node.id="a`, 9, "has no end: write a double quote after it"},
		{"node.id=\"a\u200db\"", 11, `U+200D cannot be seen: write \u200d`},
		{"node.id=\"a\nb\"", 11, `write \n`},
		{`node.id="a\x41"`, 11, `there is no such escape: write \\ for a backslash`},
		{`node.id="a\`, 11, "there is no such escape"},
		{`node.id="\u12`, 10, "four hexadecimal digits"},
		{`node.id="\u12g4"`, 10, "four hexadecimal digits"},
		{`node.id="\ud83d"`, 10, "a second such escape if the first is half a pair"},
		{`node.id="\ud83d\n"`, 10, "half a pair"},
		{`node.id="\ud83d\u0041"`, 10, "half a pair"},
		{`node.id="\ude00\ud83d"`, 10, "half a pair"},
		{`node.id=""`, 9, "node.id is absent or not empty: write !node.id for nodes without it, node.id alone for nodes with it"},
		{`node.cluster notin (a,"")`, 23, "node.cluster is absent or not empty"},
		{`metadata.a^=""`, 13, "every text begins with an empty one: write metadata.a alone"},

		// Lists.
		{"node.id in a", 12, "stand in parentheses: write (x,y), or = and != for one value"},
		{"node.id notin", 14, "stand in parentheses"},
		{"node.id in ()", 13, "a value is missing"},
		{"node.id in (a,)", 15, "a value is missing"},
		{"node.id in (a", 12, "the list that begins here has no end: write ) after the last value"},
		{"node.id in (a b)", 15, "between the values of a list stands a comma"},
		{"node.id in (a) b", 16, "between requirements stands a comma"},
	} {
		s, err := selector.Parse(c.text)
		if !errors.Is(err, fleet.ErrInvalid) || !s.IsZero() {
			t.Errorf("%q is read as %q, %v", c.text, s, err)
			continue
		}
		if want := fmt.Sprintf("selector, byte %d: ", c.at); !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\nwant %s... %s", c.text, err, want, c.want)
		}
	}
}

// What is at a limit is accepted.
func TestLimits(t *testing.T) {
	t.Parallel()
	parse(t, "node.id="+strings.Repeat("x", 1016))
	var rs []string
	for i := range 32 {
		rs = append(rs, "metadata.k"+strconv.Itoa(i))
	}
	parse(t, strings.Join(rs, ","))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"node.id=a", "node.id in (a,\"b c\"),!metadata.x", `metadata."a.b".c^="\u00e9"`, "client.version notin(1,2) , locality.zone!=a",
		"", "!", "node.id in (", `metadata."`, "node.id=\"\\ud83d\\ude00\"", "node.id=~a", "\xff", "metadata.a=\"\u2028\"",
	} {
		f.Add(s, "a", "x")
	}
	f.Fuzz(func(t *testing.T, text, id, role string) {
		s, err := selector.Parse(text)
		if err != nil {
			rest, ok := strings.CutPrefix(err.Error(), "selector, byte ")
			at, _, _ := strings.Cut(rest, ":")
			n, numErr := strconv.Atoi(at)
			if !ok || numErr != nil || n < 1 || n > len(text)+1 || !errors.Is(err, fleet.ErrInvalid) || !s.IsZero() {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := selector.Parse(s.String())
		if err != nil || again.String() != s.String() || s.IsZero() {
			t.Fatalf("%q is written %q, which is read as %q, %v", text, s, again, err)
		}
		metadata := fmt.Appendf(nil, `{"x":%q,"a.b":{"c":1},"a":true}`, "x"+strconv.Itoa(len(role)))
		for _, n := range []fleet.Node{{ID: id, MetadataJSON: metadata}, {ID: text, Cluster: role, Version: id, MetadataJSON: []byte(role)}} {
			l := selector.LabelsOf(n)
			x := selector.NewIndex([]selector.Selector{again, s})
			if m := s.Match(n); again.Match(n) != m || x.Match(l).Has(0) != m || x.Len() != 1 {
				t.Errorf("%q matches %+v as read again, or by its index, differently", text, n)
			}
		}
	})
}
