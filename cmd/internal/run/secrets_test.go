package run

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestT27_APasswordOnTheCommandLineIsWarnedOf: of every flag that takes a way to a database, and of no other source.
func TestT27_APasswordOnTheCommandLineIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		args []string
		env  string
		want string // the flag that is warned of
	}{
		{[]string{"--database-url", "postgres://u:s3cret@db/f"}, "", "--database-url"},
		{[]string{"--database-url=postgres://u@db/f?password=s3cret"}, "", "--database-url"},
		{[]string{"--database-url", "host=db user=u password=s3cret"}, "", "--database-url"},
		{[]string{"--database-url", "postgres://u:s3cret%zz@db/f"}, "", "--database-url"},
		{[]string{"--database-url", "postgres://u@db/f", "--listen-database-url", "postgres://u:s3cret@db/f"}, "", "--listen-database-url"},
		{[]string{"--database-url", "postgres://u@db/f", "--read-database-url", "postgres://u:s3cret@db/f"}, "", "--read-database-url"},
		{[]string{"--database-url", "postgres://u@db/f"}, "", ""},
		{[]string{"--database-url", "host=db user=u"}, "", ""},
		{nil, "postgres://u:s3cret@db/f", ""},
	} {
		t.Setenv("FAIRLEAD_DATABASE_URL", c.env)
		var flags XDSConfig
		k, err := kong.New(&flags)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := k.Parse(append([]string{"--seal-private-key", "/x"}, c.args...))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		WarnOfSecrets(&out, parsed)
		if text := out.String(); strings.Contains(text, "s3cret") || (c.want != "") != strings.Contains(text, "("+c.want+")") || c.want == "" && text != "" || c.want != "" && !strings.Contains(text, "FAIRLEAD_") {
			t.Errorf("%q, in the environment %q: %q", c.args, c.env, text)
		}
	}
}
