package main

import (
	"net/url"
	"strings"
	"testing"
)

func TestMissingSettings(t *testing.T) {
	t.Parallel()
	w := setup(t)
	tokenFile := w.file("token", testToken+"\n")
	for _, c := range []struct {
		args []string
		err  string
	}{
		{nil, `no server is set: give --server or FAIRLEAD_URL, save one with "fairlead login", or start one here with "make run"`},
		{[]string{"--server", "http://127.0.0.1:1"}, "no API token is set: give FAIRLEAD_TOKEN, or --token-file or FAIRLEAD_TOKEN_FILE"},
		{[]string{"--server", "http://127.0.0.1:1", "--token-file", tokenFile}, "no tenant is set: give --tenant or FAIRLEAD_TENANT"},
		{[]string{"--server", "http://127.0.0.1:1", "--token-file", w.tokenFile(), "--tenant", "a"}, "no fleet is set: give --fleet or FAIRLEAD_FLEET"},
		{[]string{"--server", "127.0.0.1:1", "--token-file", w.tokenFile(), "--tenant", "a", "--fleet", "b"}, "the server must be a URL such as https://fairlead.example.com or http://127.0.0.1:8080"},
		{[]string{"--server", "http://me:must-not-be-seen@127.0.0.1", "--token-file", w.tokenFile(), "--tenant", "a", "--fleet", "b"}, "the server's URL must be without user, password, query and fragment"},
		{[]string{"--server", "http://127.0.0.1:1", "--token-file", w.file("two-lines", testToken+"\nx"), "--tenant", "a", "--fleet", "b"}, "the API token holds a character that no token has: is it the right text, on one line?"},
		{[]string{"--server", "http://127.0.0.1:1", "--token-file", w.tokenFile(), "--tenant", "..", "--fleet", "b"}, ".. is not the name of a tenant or a fleet"},
		{[]string{"--server", "http://127.0.0.1:1", "--token", testToken, "--token-file", tokenFile}, "--token and --token-file exclude each other: give one of them, on the command line or in the environment"},
		{[]string{"--server", "http://127.0.0.1:1", "--ready-file", "x"}, "--server and --ready-file exclude each other: give one of them, on the command line or in the environment"},
		{[]string{"--context", "edge", "--ready-file", "x"}, "--context and --ready-file exclude each other: give one of them, on the command line or in the environment"},
		{[]string{"--ready-file", w.dir + "/none"}, `the ready file DIR/none is not there: "make run" and "fairlead dev" write it when all is up`},
		{[]string{"--ready-file", w.file("not-json", "x")}, `DIR/not-json is not a ready file: it does not hold the JSON that "fairlead dev" writes`},
		{[]string{"--token-file", w.file("empty", "\n")}, "the token file DIR/empty is empty"},
	} {
		w.bare("", append([]string{"nodes"}, c.args...)...).want(t, exitUsage, "", "fairlead: "+c.err+"\n")
	}
}

func TestReadyFile(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.on("GET", "/nodes", ok(`{"items": []}`))
	w.file(".fairlead/ready.json", readyJSON(w.server.URL))
	w.bare("", "nodes").want(t, exitOK, "no node has connected yet\n", "")
	if w.sent[0].auth != "Bearer "+testToken {
		t.Error("the token was not sent")
	}
	w.bare("", "nodes", "--ready-file", w.dir+"/.fairlead/ready.json").want(t, exitOK, "no node has connected yet\n", "")
	w.bare("", "nodes", "--fleet", "other").want(t, exitFailed, "", "fairlead: Not Found: there is no such thing here\nrequest id req-1\n")
	// A token that was given goes only where the caller says.
	w.bare("", "nodes", "--token-file", w.tokenFile()).want(t, exitUsage, "", "fairlead: no server is set: give --server or FAIRLEAD_URL, save one with \"fairlead login\", or start one here with \"make run\"\n")
	// And the file's token goes only to the file's server.
	w.bare("", "nodes", "--server", w.server.URL, "--tenant", "acme", "--fleet", "edge").want(t, exitUsage, "", "fairlead: no API token is set: give FAIRLEAD_TOKEN, or --token-file or FAIRLEAD_TOKEN_FILE\n")
}

func TestEnvironment(t *testing.T) {
	w := setup(t)
	w.on("GET", "/nodes", ok(`{"items": []}`))
	ready := w.file("elsewhere.json", readyJSON(w.server.URL))
	t.Setenv("FAIRLEAD_URL", w.server.URL)
	t.Setenv("FAIRLEAD_TOKEN", testToken)
	t.Setenv("FAIRLEAD_TENANT", "acme")
	t.Setenv("FAIRLEAD_FLEET", "edge")
	w.bare("", "nodes").want(t, exitOK, "no node has connected yet\n", "")
	t.Setenv("FAIRLEAD_URL", "http://127.0.0.1:1")
	w.bare("", "nodes", "--server", w.server.URL).want(t, exitOK, "no node has connected yet\n", "")
	w.bare("", "nodes", "--ready-file", ready).want(t, exitOK, "no node has connected yet\n", "")
	t.Setenv("FAIRLEAD_READY_FILE", ready)
	w.bare("", "nodes").want(t, exitUsage, "", "fairlead: --server and --ready-file exclude each other: give one of them, on the command line or in the environment\n")
	w.bare("", "nodes", "--server", w.server.URL).want(t, exitOK, "no node has connected yet\n", "")
}

// Who is one person by their context is not another one because a ready file stands in the
// environment.
func TestContextBesideAReadyFile(t *testing.T) {
	w := setup(t)
	w.on("GET", "/nodes", ok(`{"items": []}`))
	w.whoami(`, "tenant": "acme"`)
	w.bare("", "login", "--server", w.server.URL, "--token-file", w.tokenFile(), "--fleet", "edge", "--name", "ada").is(t, exitOK)
	t.Setenv("FAIRLEAD_READY_FILE", w.file("other.json", strings.ReplaceAll(readyJSON("http://127.0.0.1:1"), testToken, "fla_another")))
	w.bare("", "nodes").is(t, exitFailed) // nothing answers there
	w.bare("", "nodes", "--context", "ada").want(t, exitOK, "no node has connected yet\n", "")
	t.Setenv("FAIRLEAD_CONTEXT", "ada")
	w.bare("", "nodes").want(t, exitUsage, "", "fairlead: --context and --ready-file exclude each other: give one of them, on the command line or in the environment\n")
}

func TestExposed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"http://127.0.0.1:8080": false, "http://[::1]:8080": false, "http://localhost": false, "https://api.example.com": false,
		"http://api.example.com": true, "http://10.0.0.1": true, "http://localhost.example.com": true,
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := exposed(u); got != want {
			t.Errorf("exposed(%s) = %v", in, got)
		}
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.bare("", "apply").want(t, exitUsage, "", "fairlead: missing flags: --file=FILE; fairlead apply --help tells more\n")
	w.bare("", "--fleet", "edge", "nodes").want(t, exitUsage, "", "fairlead: unknown flag --fleet in front of a command: the flags of a command stand behind it; fairlead --help tells more\n")
	if r := w.bare("", "nodes", "--flet", "edge"); r.code != exitUsage || strings.Contains(r.err, "in front") {
		t.Errorf("%d %s", r.code, r.err)
	}
	if r := w.bare("", "nonsense"); r.code != exitUsage || !strings.HasPrefix(r.err, "fairlead: unexpected argument nonsense") {
		t.Errorf("%d %s", r.code, r.err)
	}
	for word, means := range map[string]string{"status": `"receipt" or "nodes"`, "plan": `"diff"`, "recipt": `"receipt"`, "nonsense": ""} {
		says := "fairlead: unexpected argument " + word
		if means != "" {
			says += ", did you mean " + means + "?"
		}
		w.bare("", word).want(t, exitUsage, "", says+"; fairlead --help tells more\n")
	}
	if r := w.bare("", "--help"); r.code != exitOK || !strings.Contains(r.out, "rollback") {
		t.Errorf("%d %s", r.code, r.err)
	}
	w.run("apply", "-f", w.file("a.yaml", oneCluster), "--idempotency-key", "with space").want(t, exitUsage, "", "fairlead: an idempotency key is 1 to 255 visible ASCII characters, without spaces\n")
}

// Scripts rely on the numbers.
func TestExitStatuses(t *testing.T) {
	t.Parallel()
	if got := [5]int{exitOK, exitFailed, exitUsage, exitRejected, exitPending}; got != [5]int{0, 1, 2, 3, 4} {
		t.Error(got)
	}
}

// TestT27_ATokenOnTheCommandLineIsWarnedOf: it works, and who typed it reads what is better. No other source is warned of.
func TestT27_ATokenOnTheCommandLineIsWarnedOf(t *testing.T) {
	w := setup(t)
	w.on("GET", "/nodes", ok(`{"items": []}`))
	const warning = "warning: the token stands on the command line, where others on this machine and the shell's history have it: give --token-file, FAIRLEAD_TOKEN or --token -\n"
	where := []string{"nodes", "--server", w.server.URL, "--tenant", "acme", "--fleet", "edge"}
	w.bare("", append(where, "--token", testToken)...).want(t, exitOK, "no node has connected yet\n", warning)
	w.bare("", append(where, "--token="+testToken)...).want(t, exitOK, "no node has connected yet\n", warning)
	w.bare("", append(where, "--token-file", w.tokenFile())...).want(t, exitOK, "no node has connected yet\n", "")
	w.bare("\n "+testToken+" \nmore", append(where, "--token", "-")...).want(t, exitOK, "no node has connected yet\n", "")
	w.bare(testToken, append(where, "--token", "-")...).want(t, exitOK, "no node has connected yet\n", "")
	w.bare(" \n", append(where, "--token", "-")...).want(t, exitUsage, "", "fairlead: the standard input holds no API token\n")
	w.bare(strings.Repeat("x", 5000), append(where, "--token", "-")...).want(t, exitUsage, "", "fairlead: the first line of the standard input is too long for an API token\n")
	t.Setenv("FAIRLEAD_TOKEN", testToken)
	w.bare("", where...).want(t, exitOK, "no node has connected yet\n", "")
	for _, sent := range w.sent {
		if sent.auth != "Bearer "+testToken {
			t.Errorf("sent %q", sent.auth)
		}
	}
}

// The line of --token - is all that is read: what follows are the documents of --file -.
func TestTheTokenAndTheDocumentsFromTheStandardInput(t *testing.T) {
	t.Parallel()
	w := live(t)
	w.bare(w.token+"\n"+oneCluster, "apply", "-f", "-", "--token", "-", "--server", w.url, "--tenant", "acme", "--fleet", "edge").
		want(t, exitOK, "revision 1: 1 resource changed\n", "")
}
