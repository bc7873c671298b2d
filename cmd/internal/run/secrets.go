package run

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/alecthomas/kong"
)

// WarnOfSecrets tells of what was given on the command line and should not be: whoever lists the processes reads it, and
// the shell keeps it. A database URL is one if a password is in it.
func WarnOfSecrets(w io.Writer, parsed *kong.Context) {
	for _, p := range parsed.Path {
		if p.Flag == nil || p.Resolved || !strings.HasSuffix(p.Flag.Name, "database-url") || !HasPassword(p.Flag.Target.String()) {
			continue
		}
		_, _ = fmt.Fprintf(w, "warning: a password stands on the command line (--%s), where others on this machine and the shell's history have it: "+
			"give the URL in %s, or the password in a file that PGPASSFILE names\n", p.Flag.Name, strings.Join(p.Flag.Envs, " or "))
	}
}

// HasPassword reports whether a password is in the text itself, in any of its forms.
func HasPassword(text string) bool {
	if u, err := url.Parse(text); err == nil && u.Scheme != "" {
		_, there := u.User.Password()
		return there || u.Query().Has("password") || u.Query().Has("sslpassword")
	}
	for word := range strings.FieldsSeq(text) { // the other form: host=db password=...
		if name, _, _ := strings.Cut(word, "="); name == "password" || name == "sslpassword" {
			return true
		}
	}
	return strings.Contains(text, "://") && strings.Contains(text, "@") // a URL that cannot be read was shown all the same
}
