package main

import (
	"encoding/json"
	"testing"
	"unicode"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain text, ümläut 漢字 🙂":       "plain text, ümläut 漢字 🙂",
		"\x1b[31mred\x1b[0m":            "[31mred[0m",
		"\x1b]0;title\x07x":             "]0;titlex",
		"\u009b2Jc1":                    "2Jc1",
		"a\x7fb\x00c\bd":                "abcd",
		"two\nlines\r\nand\ttabs\u2028": "two lines  and tabs",
		"\u202eevil\u2066":              "evil",
		"bad \xff\xfe utf-8":            "bad \ufffd\ufffd utf-8",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzPlainJSON(f *testing.F) {
	f.Add("\u009b31m \x7f \u202e \u2028 \U000e0041 \" \\ \n")
	f.Fuzz(func(t *testing.T, s string) {
		in, err := json.Marshal(map[string]string{s: s})
		if err != nil {
			t.Fatal(err)
		}
		in = append(append([]byte(nil), in[:len(in)-1]...), "\n\t}"...)
		out := plainJSON(in)
		var before, after map[string]string
		if json.Unmarshal(in, &before) != nil || json.Unmarshal(out, &after) != nil {
			t.Fatalf("%q is not JSON", out)
		}
		for k, v := range before {
			if after[k] != v {
				t.Errorf("%q became %q", in, out)
			}
		}
		for _, r := range string(out) {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Errorf("%q holds %q", out, r)
			}
		}
	})
}
