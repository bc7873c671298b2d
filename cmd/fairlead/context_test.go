package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (w *world) whoami(fields string) {
	w.replies["GET /v1/whoami"] = []reply{ok(`{"kind": "api", "name": "ada"` + fields + `}`)}
}

// line is a terminal on which one line is typed.
type line struct {
	t    *testing.T
	text string
}

func (l *line) Read(p []byte) (n int, err error) {
	if l.text == "" {
		l.t.Error("more was waited for than the line")
		return 0, io.EOF
	}
	n = copy(p, l.text)
	l.text = l.text[n:]
	return n, nil
}

// TestLoginTakesALine: who types the token on a terminal ends it with the line, and need not end the input.
func TestLoginTakesALine(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.whoami(`, "tenant": "acme"`)
	var out, errs strings.Builder
	sh := &shell{in: &line{t, testToken + "\n"}, out: &out, err: &errs, dir: w.dir, config: filepath.Join(w.dir, "xdg"), now: w.now, pause: w.pause}
	if code := run(t.Context(), sh, []string{"login", "--server", w.server.URL}); code != exitOK || w.sent[0].auth != "Bearer "+testToken {
		t.Errorf("%d %q", code, errs.String())
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.whoami(`, "tenant": "acme"`)
	w.bare("", "context", "list").want(t, exitOK, "nothing is saved yet: \"fairlead login --server URL\" does it\n", "")
	r := w.bare(testToken+"\n", "login", "--server", w.server.URL, "--fleet", "edge")
	r.want(t, exitOK, "saved as acme/edge, and in use: "+w.server.URL+", tenant acme, fleet edge\n", "the API token, on one line:\n")
	info, err := os.Stat(filepath.Join(w.dir, "xdg", "contexts.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the tokens: %v, %v", info, err)
	}
	w.bare("", "login", "--server", w.server.URL, "--token-file", w.tokenFile(), "--name", "two").is(t, exitOK)
	w.bare("", "context", "list").want(t, exitOK, "CURRENT  NAME       SERVER                  TENANT  FLEET\n-        acme/edge  "+w.server.URL+"  acme    edge\n*        two        "+w.server.URL+"  acme    -\n", "")
	w.bare("", "context", "use", "acme/edge").want(t, exitOK, "acme/edge is in use: "+w.server.URL+", tenant acme, fleet edge\n", "")
	w.bare("", "context", "list", "--json").want(t, exitOK, indented(t, `{"items": [{"name": "acme/edge", "current": true, "server": "`+w.server.URL+`", "tenant": "acme", "fleet": "edge"},
		{"name": "two", "current": false, "server": "`+w.server.URL+`", "tenant": "acme"}]}`), "")
	w.bare("", "context", "use", "three").want(t, exitUsage, "", "fairlead: no context \"three\" is saved: \"fairlead context list\" tells which are\n")

	w.on("GET", "/nodes", ok(`{"items": []}`))
	w.bare("", "nodes").want(t, exitOK, "no node has connected yet\n", "")
	if last := w.sent[len(w.sent)-1]; last.auth != "Bearer "+testToken || last.path != fleetPath+"/nodes" {
		t.Errorf("asked %+v", last)
	}
	w.bare("", "nodes", "--context", "two").want(t, exitUsage, "", "fairlead: no fleet is set: give --fleet or FAIRLEAD_FLEET\n")
	w.bare("", "nodes", "--context", "two", "--fleet", "edge").want(t, exitOK, "no node has connected yet\n", "")
	// a saved token goes to the server that it was saved with, and nowhere else
	w.bare("", "nodes", "--server", "http://127.0.0.1:1", "--tenant", "acme", "--fleet", "edge").want(t, exitUsage, "", "fairlead: no API token is set: give FAIRLEAD_TOKEN, or --token-file or FAIRLEAD_TOKEN_FILE\n")
	if r := w.bare("", "nodes", "--server", "http://127.0.0.1:1", "--context", "two"); r.code != exitUsage || !strings.Contains(r.err, "leave one of them out") {
		t.Errorf("%+v", r)
	}
	saved, err := os.ReadFile(filepath.Join(w.dir, "xdg", "contexts.json"))
	if err != nil {
		t.Fatal(err)
	}
	w.bare("", "context", "delete", "acme/edge", "--json").want(t, exitOK, "{}\n", "")
	w.file("xdg/contexts.json", string(saved))
	w.bare("", "context", "delete", "acme/edge").want(t, exitOK, "no context is in use\n", "")
	if raw, err := os.ReadFile(filepath.Join(w.dir, "xdg", "contexts.json")); err != nil || strings.Contains(string(raw), "acme/edge") {
		t.Errorf("%s, %v", raw, err)
	}
	w.file("xdg/contexts.json", "{"+testToken)
	if r := w.bare("", "nodes"); r.code != exitUsage || !strings.Contains(r.err, "does not hold what") {
		t.Errorf("%+v", r)
	}
}

func TestLoginRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.replies["GET /v1/whoami"] = []reply{problemReply(http.StatusUnauthorized, "unauthorized", "no such token")}
	w.bare("", "login", "--server", w.server.URL, "--token-file", w.tokenFile()).want(t, exitFailed, "", "fairlead: Unauthorized: no such token\nrequest id req-1\n")
	w.bare("", "login").want(t, exitUsage, "", "fairlead: say which server: --server https://fairlead.example.com\n")
	if _, err := os.Stat(filepath.Join(w.dir, "xdg")); err == nil {
		t.Error("something was saved")
	}
}

func TestConfigDir(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ xdg, home, want string }{
		{"/x", "/home/a", "/x/fairlead"}, {"relative", "/home/a", "/home/a/.config/fairlead"}, {"", "/home/a", "/home/a/.config/fairlead"}, {"", "", ""},
	} {
		env := map[string]string{"XDG_CONFIG_HOME": c.xdg, "HOME": c.home}
		if got := configDir(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
