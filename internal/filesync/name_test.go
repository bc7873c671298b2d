package filesync

import (
	"strings"
	"testing"

	"fairlead/internal/fleet"
)

func TestNamesHaveFilesOfTheirOwn(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 4000)
	names := []string{
		"a", "A", "a/b", "a%2fb", "a%2Fb", "a_b", "a-b", "a.b", "..", ".", "../a", "../../etc/passwd", "/", "//", "a.json", ".new-a.json", "~", "a~b",
		"é", "É", "\x00", "a\nb", " ", "con", "a:b", `a\b`, long, long + "x", long + "y", strings.ToUpper(long), "xdstp://a/b?c=d#e",
	}
	files := map[string]string{}
	for _, name := range names {
		file := fileOf(fleet.Ref{Type: fleet.Endpoint, Name: name})
		base, in := strings.CutPrefix(file, "eds/")
		if !in || strings.Contains(base, "/") || strings.HasPrefix(base, ".") || len(base) > 200 || !strings.HasSuffix(base, ".json") {
			t.Errorf("%.40q is in %q", name, file)
		}
		key := strings.ToLower(file) // for file systems that do not tell them apart
		if other, there := files[key]; there {
			t.Errorf("%.40q and %.40q are both in %s", name, other, file)
		}
		files[key] = name
	}
	if got := fileOf(fleet.Ref{Type: fleet.Route, Name: "shop/front_1"}); got != "rds/shop%2ffront_1.json" {
		t.Errorf("a plain name is in %s", got)
	}
}
