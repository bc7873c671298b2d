package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/test/world"
)

// TestTheRESTPageRuns does what docs/rest.md says, with fairlead dev, and compares what is printed.
func TestTheRESTPageRuns(t *testing.T) {
	t.Parallel()
	d := world.StartDev(t, world.DataDir(t), nil, "--no-envoy")
	version, ran := "", 0
	page := strings.Split(string(world.Read(t, "../../docs/rest.md")), "\n")
	dir := t.TempDir()
	for i, line := range page {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		ran++
		c := exec.CommandContext(t.Context(), "sh", "-ec", command)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+filepath.Dir(world.Bin("fairlead"))+":"+os.Getenv("PATH"),
			"REST="+d.Ready.RESTAddress, "NODE_TOKEN="+d.Ready.NodeToken, "VERSION="+version)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
		if want := page[i+1]; want != "```" && strings.TrimSpace(string(out)) != want {
			t.Errorf("%s printed %q, the page says %q", command, out, want)
		}
		var answer struct {
			Version string `json:"version_info"`
		}
		if json.Unmarshal(out, &answer) == nil && answer.Version != "" {
			version = answer.Version
		}
	}
	if ran != 3 || version == "" {
		t.Errorf("%d commands were run, and the version was %q", ran, version)
	}
}
