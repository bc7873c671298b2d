package internal_test

import (
	"net"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

const haPage = "docs/ha.md"

// TestDeployedEtcdListensOnAddresses: etcd refuses to start where a URL to listen on has a name ("expected IP in URL for binding").
// TestSoakFailover puts addresses of its own there, so it would not see that.
func TestDeployedEtcdListensOnAddresses(t *testing.T) {
	t.Parallel()
	seen := 0
	for line := range strings.Lines(pageText(t, "deploy/ha/etcd.env")) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if !strings.HasPrefix(key, "ETCD_LISTEN_") {
			continue
		}
		for each := range strings.SplitSeq(value, ",") {
			seen++
			if u, err := url.Parse(each); err != nil || net.ParseIP(u.Hostname()) == nil {
				t.Errorf("%s=%s: etcd listens on addresses alone", key, each)
			}
		}
	}
	if seen != 2 {
		t.Errorf("there are %d URLs to listen on", seen)
	}
}

// TestThePageSaysWhereEachFileGoes: what Debian's units read has other names than the files of deploy/ha, and a unit that does not find its file is
// skipped without a fault.
func TestThePageSaysWhereEachFileGoes(t *testing.T) {
	t.Parallel()
	page := pageText(t, haPage)
	for file, place := range map[string]string{
		"etcd.env": "/etc/default/etcd", "patroni.yaml": "/etc/patroni/config.yml", "patroni.env": "/etc/patroni_env.conf",
		"haproxy.cfg": "/etc/haproxy/haproxy.cfg", "pgbouncer.ini": "/etc/pgbouncer/pgbouncer.ini",
	} {
		row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(file) + "` \\| `" + regexp.QuoteMeta(place) + "` \\|")
		if !row.MatchString(page) {
			t.Errorf("%s does not say that %s is %s", haPage, file, place)
		}
	}
}
