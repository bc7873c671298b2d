package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead/internal/kubernetes/kubetest"
	"fairlead/test/world"
)

var pageBlock = regexp.MustCompile("(?ms)^```\n(.*?)^```$")

// TestEndpointsPage does what docs/endpoints.md says, and compares what is printed, with what it is warned of before that.
func TestEndpointsPage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Put(world.EDSCluster("backend", "1s", world.ADS), world.EDSCluster("other", "1s", world.ADS), world.EDSCluster("payments", "1s", world.ADS))
	page := string(world.Read(t, filepath.Join("..", "..", "docs", "endpoints.md")))
	dir, done := t.TempDir(), 0
	cluster := kubetest.New(t)
	name, port := "http", int32(8080)
	cluster.PutSlice(&discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "shop", Name: "payments-x7k2p", Labels: map[string]string{discoveryv1.LabelServiceName: "payments"}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port}},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.1.0.4"}}},
	})
	kubeconfig := cluster.Kubeconfig("shop")
	for _, block := range pageBlock.FindAllStringSubmatch(page, -1) {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			c := exec.CommandContext(t.Context(), "sh", "-c", command)
			c.Dir = dir
			c.Env = append(os.Environ(), "PATH="+filepath.Dir(world.Bin("fairlead"))+":"+os.Getenv("PATH"), "XDG_CONFIG_HOME="+dir, "KUBECONFIG="+kubeconfig,
				"FAIRLEAD_URL="+w.API, "FAIRLEAD_TOKEN="+w.Token, "FAIRLEAD_TENANT="+w.Tenant, "FAIRLEAD_FLEET="+w.Fleet)
			var said strings.Builder
			c.Stderr = &said
			out, err := c.Output()
			got := ""
			for line := range strings.Lines(said.String()) {
				if strings.HasPrefix(line, "warning: ") {
					got += line
				}
			}
			if got = strings.TrimSpace(got + string(out)); err != nil || got != strings.TrimSpace(want) {
				t.Errorf("$ %s\n%s%s\nwant:\n%s\n%v", command, said.String(), got, want, err)
			}
			done++
		}
	}
	if done < 11 {
		t.Errorf("the page has %d commands", done)
	}
}
