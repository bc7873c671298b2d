package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fairlead/test/world"
)

// TestTheFilesPageRuns does what docs/files.md says, with fairlead dev and a real Envoy, and compares what is printed.
func TestTheFilesPageRuns(t *testing.T) {
	t.Parallel()
	d := world.StartDev(t, world.DataDir(t), nil, "--no-envoy")
	page := string(world.Read(t, "../../docs/files.md"))
	dir := t.TempDir()
	shown := regexp.MustCompile("(?s)```yaml\n# (shop.yaml)\n(.*?)```").FindStringSubmatch(page)
	if shown == nil {
		t.Fatal("the page shows no shop.yaml")
	}
	world.Must(t, os.WriteFile(filepath.Join(dir, shown[1]), []byte(shown[2]), 0o600))
	world.Must(t, os.Symlink(world.EnvoyBin(), filepath.Join(dir, "envoy")))
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```\n(\\$ .*?)```").FindAllStringSubmatch(page, -1) {
		for _, step := range strings.Split(strings.TrimPrefix(block[1], "$ "), "\n$ ") {
			ran++
			command, want, _ := strings.Cut(step, "\n")
			c := exec.CommandContext(t.Context(), "sh", "-ec", command)
			c.Dir = dir
			c.Env = append(os.Environ(), "PATH="+filepath.Dir(world.Bin("fairlead"))+":"+dir+":"+os.Getenv("PATH"), "XDS="+d.Ready.XDSAddress,
				"FAIRLEAD_NODE_TOKEN="+d.Ready.NodeToken, "FAIRLEAD_URL="+d.Ready.APIURL, "FAIRLEAD_TOKEN="+d.Ready.APIToken, "FAIRLEAD_TENANT="+d.Ready.Tenant, "FAIRLEAD_FLEET="+d.Ready.Fleet)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", command, err, out)
			}
			if got := strings.TrimSpace(string(out)); got != strings.TrimSpace(want) {
				t.Errorf("%s printed\n%s\nthe page says\n%s", command, got, want)
			}
		}
	}
	if ran != 5 {
		t.Errorf("%d commands were run", ran)
	}
}
