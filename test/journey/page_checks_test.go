package journey

import (
	"strings"
	"testing"

	"fairlead/test/world"
)

// A page that nobody has changed is written as it was read.
func TestPageIsKept(t *testing.T) {
	t.Parallel()
	text := string(world.Read(t, "../../docs/tutorial.md"))
	p, err := readPage(text)
	world.Must(t, err)
	if got := p.String(); got != text {
		t.Errorf("the page is written as\n%s", got)
	}
	for _, bad := range []string{"```console\n$ echo", "```console\nno command\n```\n"} {
		if _, err := readPage(bad); err == nil {
			t.Errorf("%q is taken for a page", bad)
		}
	}
	p, err = readPage("Write:\n\n```yaml\n# a-file.yaml\nx: 1\n```\n\n<!-- await: curl x => y -->\n\n```sh\n$ nobody runs this\n```\n")
	world.Must(t, err)
	if p[2].file != "a-file.yaml" || p[4].await == nil || *p[4].await != (await{"curl x", "y"}) || p[6].steps != nil {
		t.Errorf("%+v", p)
	}
}

// What differs from run to run is the same on the page.
func TestNames(t *testing.T) {
	t.Parallel()
	n := names{"8080": "23456", "--base-id 1": "--base-id 77"}
	if got := n.here("curl http://127.0.0.1:8080/ --base-id 1 # 18080"); got != "curl http://127.0.0.1:23456/ --base-id 77 # 18080" {
		t.Errorf("here: %s", got)
	}
	for said, want := range map[string]string{
		"http://127.0.0.1:23456, 123456":                               "http://127.0.0.1:8080, 123456",
		"2031-12-13 14:15:16Z":                                         "2026-01-02 03:04:05Z",
		`"2031-12-13T14:15:16.123456Z"`:                                `"2026-01-02T03:04:05Z"`,
		"ACKed by 2/2 nodes in 1234 ms, 2 warnings":                    "ACKed by 2/2 nodes in 18 ms, 2 warnings",
		"request id 01a2083f-6fae-7343-a4db-490a7e027b8b":              "request id 01a2083e-6602-7756-83f3-5db179f9e912",
		"plan-AQAAAAAAAAADj3lNsp0-SZmEm8VjuSJ0RkaYQOimWsC_7fAa_NwIPw4": "plan-AQAAAAAAAAAB2vpbVzNpTsOBR8qPQ57hWYqaALPQCNIytRdNXyXXuVk",
		"127.0.0.1:45678":                                              "127.0.0.1:50000",
		"127.0.0.1:12345":                                              "127.0.0.1:12345",
	} {
		if got := n.there(said); got != want {
			t.Errorf("%s is %s on the page, want %s", said, got, want)
		}
	}
	if !strings.Contains(n.there("version: SLBudQUxSZlmjfzHn3ex"), "version: SLBudQUxSZlmjfzHn3ey") {
		t.Error("a version differs from run to run")
	}
}
