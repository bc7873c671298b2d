package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	client "fairlead/clients/go"
)

// puts are the bodies that endpoints were written with, without their leases.
func (w *world) puts() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sent {
		if strings.Contains(s.path, "/endpoints/") {
			out = append(out, strings.ReplaceAll(s.body, `"lease":"01936f5e-8c1b-7d2a-9f00-4a5b6c7d8e9f"`, `"lease":"L"`))
		}
	}
	return out
}

// feeds runs discover, calls each step at a pause, and stops it after the last one.
func (w *world) feeds(args []string, steps ...func()) result {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	n := 0
	w.paused = func() {
		if n < len(steps) {
			steps[n]()
		} else {
			cancel()
		}
		n++
	}
	return w.runWith(ctx, append([]string{"discover"}, args...)...)
}

// A feed of a file puts what differs, and a file that is broken, empty or gone changes nothing.
func TestDiscoverFile(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	w.on("POST", "/endpoints/b", ok(goldenEndpointsWritten))
	at := time.Unix(1_700_000_000, 0)
	write := func(text string) func() {
		return func() {
			path := w.file("list.yaml", text)
			at = at.Add(time.Second)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Error(err)
			}
		}
	}
	settled := func() {} // a file that has changed is read by the turn after that
	path := w.file("list.yaml", "- {address: \"10.0.0.1:80\", weight: 2}\n- {address: \"10.0.0.2:80\"}\n- {cluster: b, address: \"10.0.0.3:80\", locality: {region: eu}}\n")
	r := w.feeds([]string{"--source", "file", "--file", path, "--cluster", "shop/a", "--every", "10s"},
		settled,                                // nothing has changed
		write("- address: [broken\n"), settled, // what cannot be read
		write("[]"), settled, // nothing
		write("- {address: \"10.0.0.2:80\", health: draining}\n"), settled,
		func() { _ = os.Remove(path) },
		write(`[{"address": "10.0.0.2:80"}]`), settled,
	)
	want := []string{
		`{"set":[{"address":"10.0.0.3:80","lease":"L","locality":{"region":"eu"}}]}`,
		`{"set":[{"address":"10.0.0.1:80","lease":"L","weight":2},{"address":"10.0.0.2:80","lease":"L"}]}`,
		`{"set":[{"address":"10.0.0.2:80","health":"draining","lease":"L"}]}`, `{"remove":["10.0.0.1:80"]}`,
		`{"set":[{"address":"10.0.0.2:80","lease":"L"}]}`,
	}
	if got := w.puts(); !slices.Equal(got, want) {
		t.Errorf("put:\n%s", strings.Join(got, "\n"))
	}
	for _, said := range []string{"is no list of endpoints", "the source has no endpoints of shop/a any more", "the source has no endpoints of b any more", "no such file"} {
		if strings.Count(r.err, said) != 1 {
			t.Errorf("%q is not said once:\n%s", said, r.err)
		}
	}
	if slices.Contains(w.requests(), "DELETE "+leasePath) {
		t.Error("a feed that was stopped ended its lease")
	}
	if r.code != 0 {
		t.Errorf("exit status %d: %s", r.code, r.err)
	}
}

// A list is often written over in place: half of it is a list, too. One that changes at each look is read all the same.
func TestDiscoverReadsNoHalfOfAFile(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	lines := []string{"- {address: \"10.0.0.1:80\"}\n", "- {address: \"10.0.0.2:80\"}\n", "- {address: \"10.0.0.3:80\"}\n"}
	at := time.Unix(1_700_000_000, 0)
	write := func(n int) func() {
		return func() {
			path := w.file("list.yaml", strings.Join(lines[:n], ""))
			at = at.Add(time.Second)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Error(err)
			}
		}
	}
	settled := func() {}
	path := w.file("list.yaml", lines[0]+lines[1])
	steps := []func(){settled, write(1), write(3), settled, settled}
	for range mostChanges + 1 {
		steps = append(steps, write(2))
	}
	r := w.feeds([]string{"--source", "file", "--file", path, "--cluster", "shop/a", "--every", "10s"}, steps...)
	want := []string{
		`{"set":[{"address":"10.0.0.1:80","lease":"L"},{"address":"10.0.0.2:80","lease":"L"}]}`, `{"set":[{"address":"10.0.0.3:80","lease":"L"}]}`, `{"remove":["10.0.0.3:80"]}`,
	}
	if got := w.puts(); !slices.Equal(got, want) || r.code != 0 {
		t.Errorf("exit status %d, put:\n%s\n%s", r.code, strings.Join(got, "\n"), r.err)
	}
	if soon := slices.Index(w.pauses, fileSettles); soon < 0 {
		t.Errorf("a file that has changed is read after %v", w.pauses)
	}
}

// A source that has nothing from its beginning writes nothing, and says so.
func TestDiscoverTellsThatASourceIsEmpty(t *testing.T) {
	t.Parallel()
	said := "warning: the source has no endpoints, so nothing is written\n"
	for _, text := range []string{"[]", ""} {
		w := setup(t)
		path := w.file("list.yaml", text)
		w.run("discover", "--source", "file", "--file", path, "--cluster", "a", "--once").want(t, exitOK, "", said)
		w.endpointAPI()
		if r := w.feeds([]string{"--source", "file", "--file", path, "--cluster", "a", "--every", "10s"}, func() {}, func() {}); r.err != said {
			t.Errorf("%q: a feed says %q", text, r.err)
		}
		if got := w.puts(); len(got) != 0 {
			t.Errorf("%q: it put %v", text, got)
		}
	}
}

// What the API refuses of one cluster is told once, and the others are put.
func TestDiscoverGoesOnBehindABadCluster(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	w.on("POST", "/endpoints/a", problemReply(422, "invalid", "the address is on this machine"), problemReply(409, "no_room", "there is no room"), problemReply(403, "guarded", "the rule admin_ports"), ok(goldenEndpointsWritten))
	w.on("POST", "/endpoints/b", ok(goldenEndpointsWritten))
	path := w.file("list.yaml", "- {cluster: a, address: \"127.0.0.1:80\"}\n- {cluster: b, address: \"10.0.0.3:80\"}\n")
	r := w.feeds([]string{"--source", "file", "--file", path, "--every", "10s"}, func() {}, func() {}, func() {})
	if r.code != 0 || strings.Count(r.err, "warning: the endpoints of a stay as they are: ") != 1 || !strings.Contains(r.err, "on this machine") {
		t.Errorf("exit status %d: %s", r.code, r.err)
	}
	if !strings.Contains(r.err, "b: 1 set, 0 removed, 1 in all\n") || !strings.Contains(r.err, "a: 1 set, 0 removed, 1 in all\n") {
		t.Errorf("it said:\n%s", r.err)
	}
	w = setup(t)
	w.endpointAPI()
	w.on("POST", "/endpoints/a", problemReply(403, "forbidden", "the role viewer may not do this"))
	path = w.file("list.yaml", "- {cluster: a, address: \"10.0.0.3:80\"}\n")
	if r := w.feeds([]string{"--source", "file", "--file", path}, func() {}); r.code != 1 {
		t.Errorf("who may not write: exit status %d: %s", r.code, r.err)
	}
}

// What the API has may be written in another way than the list says it: an address that only changes its spelling stays.
func TestDiscoverKnowsAnAddressInEachSpelling(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	at := time.Unix(1_700_000_000, 0)
	write := func(text string) func() {
		return func() {
			path := w.file("list.yaml", text)
			at = at.Add(time.Second)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Error(err)
			}
		}
	}
	path := w.file("list.yaml", `[{"address": "[2001:db8::1]:80"}, {"address": "10.0.0.1:80"}]`)
	r := w.feeds([]string{"--source", "file", "--file", path, "--cluster", "shop/a", "--every", "10s"},
		write(`[{"address": "[2001:DB8:0:0::1]:080"}, {"address": "10.0.0.1:0080"}]`), func() {})
	want := []string{`{"set":[{"address":"[2001:db8::1]:80","lease":"L"},{"address":"10.0.0.1:80","lease":"L"}]}`}
	if got := w.puts(); r.code != 0 || !slices.Equal(got, want) {
		t.Errorf("exit status %d, put:\n%s\n%s", r.code, strings.Join(got, "\n"), r.err)
	}
}

// An answer that is lost may be that of a write that was made: what the source does not have any more is removed then, too.
func TestDiscoverRemovesWhatItMayHavePut(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_700_000_000, 0)
	for name, lost := range map[string]reply{"unavailable": problemReply(503, "unavailable", "try again"), "refused": problemReply(409, "no_room", "there is no room")} {
		w := setup(t)
		w.endpointAPI()
		many := make([]string, atOnce+1)
		for i := range many {
			many[i] = fmt.Sprintf("- {address: \"10.0.%d.%d:80\"}\n", i/250, i%250)
		}
		write := func(lines ...string) func() {
			return func() {
				path := w.file("list.yaml", strings.Join(lines, ""))
				at = at.Add(time.Second)
				if err := os.Chtimes(path, at, at); err != nil {
					t.Error(err)
				}
			}
		}
		write(many...)()
		w.on("POST", "/endpoints/shop%2Fa", ok(goldenEndpointsWritten), lost, ok(goldenEndpointsWritten))
		r := w.feeds([]string{"--source", "file", "--file", filepath.Join(w.dir, "list.yaml"), "--cluster", "shop/a", "--every", "10s"}, write(many[1:3]...), func() {})
		got := w.puts()
		if len(got) != 3 || r.code != 0 {
			t.Fatalf("%s: exit status %d, put %d times:\n%s", name, r.code, len(got), r.err)
		}
		var last client.EndpointWrite
		if err := json.Unmarshal([]byte(got[2]), &last); err != nil {
			t.Fatal(err)
		}
		// What the refused request had was not put: it was all or nothing.
		if n := len(deref(last.Remove)); last.Set != nil || n != atOnce-2+map[string]int{"unavailable": 1}[name] || !slices.Contains(*last.Remove, "10.0.0.0:80") {
			t.Errorf("%s: it removed %d, and set %v", name, n, last.Set)
		}
	}
}

// TestDiscoverReadsRegularFilesAlone: a pipe or a device may never end.
func TestDiscoverReadsRegularFilesAlone(t *testing.T) {
	t.Parallel()
	for _, path := range []string{os.DevNull, t.TempDir()} {
		if _, err := (&fileSource{path: path}).read(t.Context()); err == nil || !strings.Contains(err.Error(), "is no regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A list names its faults.
func TestDiscoverFileFaults(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	for text, want := range map[string]string{
		"- {address: \"10.0.0.1:80\"}": "[0].cluster: say whose endpoint it is, or for all with --cluster",
		"- {cluster: a}":               "[0].address: it is missing",
		"- {cluster: a, address: x}\n- {cluster: a, address: x}": "[1].address: x stands in [0] too: an address is once in a cluster",
		"- {cluster: a, port: 80}":                               "unknown field \"port\"",
		"a: 1":                                                   "is no list of endpoints: write a list of objects, such as [{\"address\": \"10.0.0.7:8080\"}]\n",
		"- 10.0.0.1:80":                                          "is no list of endpoints: write a list of objects, such as",
		"- {cluster: a, address: \"10.0.0.1:80\", locality: eu/a}":                                  "locality: this must be an object, such as {region: eu-west-1, zone: eu-west-1a, sub_zone: rack-1}, not a text\n",
		"- {cluster: a, address: \"10.0.0.1:80\", locality: {region: 5}}":                           "locality.region: this must be a text, in quotes where it looks like a number, not a number\n",
		"- {cluster: a, address: \"10.0.0.1:80\", weight: many}":                                    "weight: this must be a whole number, not a text\n",
		"- {cluster: a, address: \"10.0.0.1:80\", metadata: [{filter_metadata: {}}]}":               "metadata: this must be an object, not a list\n",
		"- {cluster: a, address: \"10.0.0.1:80\"}\n---\n- {cluster: a, address: \"10.0.0.2:80\"}\n": "line 2: a second YAML document begins here (---), and one is read: put all endpoints into one list\n",
		"- {cluster: a, address: \"10.0.0.1:80\", health: 5}":                                       "health: this must be a text, in quotes where it looks like a number, not a number\n",
	} {
		path := w.file("list.yaml", text)
		if r := w.run("discover", "--source", "file", "--file", path, "--once"); r.code != 1 || !strings.Contains(r.err, want) {
			t.Errorf("%s: exit status %d, %s", text, r.code, r.err)
		}
	}
	for _, args := range [][]string{{"--source", "file"}, {"--source", "dns"}, {"--source", "dns", "--name", "x", "--cluster", "a"}, {"--source", "dns", "--name", "x", "--cluster", "a", "--srv", "--port", "1"}, {"--source", "dns", "--name", "x", "--cluster", "a", "--srv", "--every", "1ms"}, {"--source", "dns", "--name", "x", "--cluster", "a", "--port", "70000"}} {
		if r := w.run(append([]string{"discover"}, args...)...); r.code != 2 {
			t.Errorf("%v: exit status %d, %s", args, r.code, r.err)
		}
	}
}

// A list may have anchors and merge keys, as what apply takes: a key beside "<<" wins over the merged one, and is none that stands twice.
func TestDiscoverFileMergeKeys(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	w.on("POST", "/endpoints/b", ok(goldenEndpointsWritten))
	for text, want := range map[string]string{
		"- &a {cluster: b, address: \"10.0.0.1:80\", weight: 3}\n- {<<: *a, address: \"10.0.0.2:80\"}\n":   `"address":"10.0.0.2:80","weight":3`,
		"- &a {cluster: b, address: \"10.0.0.3:80\", weight: 3}\n- {address: \"10.0.0.4:80\", <<: [*a]}\n": `"address":"10.0.0.4:80","weight":3`,
		"- &a {cluster: b, address: \"10.0.0.5:80\"}\n- <<: *a\n  address: \"10.0.0.6:80\"\n  weight: 4\n": `"address":"10.0.0.6:80","weight":4`,
	} {
		r := w.run("discover", "--source", "file", "--file", w.file("list.yaml", text), "--once")
		if puts := w.puts(); r.code != 0 || len(puts) == 0 || !strings.Contains(puts[len(puts)-1], want) {
			t.Errorf("%s: exit status %d, %s, %v", text, r.code, r.err, puts)
		}
	}
	text := "- &a {cluster: b, address: \"10.0.0.1:80\"}\n- {<<: *a, weight: 1, weight: 2}\n"
	if r := w.run("discover", "--source", "file", "--file", w.file("list.yaml", text), "--once"); r.code != 1 || !strings.Contains(r.err, "weight") {
		t.Errorf("a key that stands twice: exit status %d, %s", r.code, r.err)
	}
}

// zone is a DNS server.
type zone struct {
	mu      sync.Mutex // guards what follows but address
	hosts   map[string][]string
	failing dnsmessage.Type // is answered SERVFAIL
	records []dnsmessage.SRVResource
	down    bool // it answers nothing
	address string
}

func newZone(t *testing.T) *zone {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	z := &zone{hosts: map[string][]string{}, address: conn.LocalAddr().String()}
	var serving sync.WaitGroup
	serving.Go(func() {
		b := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			if answer := z.answer(b[:n]); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	})
	t.Cleanup(func() { conn.Close(); serving.Wait() })
	return z
}

func (z *zone) answer(query []byte) []byte {
	z.mu.Lock()
	defer z.mu.Unlock()
	var m dnsmessage.Message
	if z.down || m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Header.Response, m.Header.Authoritative, m.Additionals = true, true, nil
	head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}
	hosts, known := z.hosts[q.Name.String()]
	for _, h := range hosts {
		switch a := netip.MustParseAddr(h); {
		case q.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	if q.Name.String() == "_http._tcp.shop.test." && q.Type == dnsmessage.TypeSRV {
		known = true
		for i := range z.records {
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &z.records[i]})
		}
	}
	if q.Type == z.failing {
		m.Header.RCode, m.Answers = dnsmessage.RCodeServerFailure, nil
	} else if !known {
		m.Header.RCode = dnsmessage.RCodeNameError
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

func (z *zone) set(f func()) {
	z.mu.Lock()
	defer z.mu.Unlock()
	f()
}

// A feed of DNS follows the records, and a name that goes away or a server that is down changes nothing.
func TestDiscoverDNS(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	z := newZone(t)
	z.set(func() { z.hosts["shop.test."] = []string{"10.0.0.1", "2001:db8::1"} })
	r := w.feeds([]string{"--source", "dns", "--name", "shop.test.", "--port", "80", "--cluster", "shop/a", "--dns-server", z.address},
		func() { z.set(func() { z.hosts["shop.test."] = []string{"10.0.0.1", "10.0.0.2"} }) },
		func() { z.set(func() { delete(z.hosts, "shop.test.") }) },
		func() { z.set(func() { z.hosts["shop.test."] = []string{} }) },
		func() { z.set(func() { z.hosts["shop.test."] = []string{"10.0.0.2"} }) },
	)
	got := w.puts()
	want := []string{
		`{"set":[{"address":"10.0.0.1:80","lease":"L"},{"address":"[2001:db8::1]:80","lease":"L"}]}`,
		`{"set":[{"address":"10.0.0.2:80","lease":"L"}]}`, `{"remove":["[2001:db8::1]:80"]}`, `{"remove":["10.0.0.1:80"]}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("put:\n%s\nsaid:\n%s", strings.Join(got, "\n"), r.err)
	}
}

// Half of an answer is none: the addresses of the other family have not gone.
func TestDiscoverDNSTakesNoHalfOfAnAnswer(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.set(func() {
		z.hosts["shop.test."] = []string{"10.0.0.1", "2001:db8::1"}
		z.records = []dnsmessage.SRVResource{{Priority: 1, Weight: 1, Port: 80, Target: dnsmessage.MustNewName("shop.test.")}}
	})
	for _, d := range []*dnsSource{newDNSSource("shop.test.", "shop", false, 80, z.address), newDNSSource("_http._tcp.shop.test.", "shop", true, 0, z.address)} {
		for _, fails := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA} {
			z.set(func() { z.failing = fails })
			if got, err := d.read(t.Context()); err == nil {
				t.Errorf("where %v fails it found %v", fails, got)
			}
		}
		z.set(func() { z.failing = 0 })
		if got, err := d.read(t.Context()); err != nil || len(got["shop"]) != 2 {
			t.Errorf("it found %v, %v", got, err)
		}
	}
}

// The same host as A and as AAAA is one: the API refuses an address that stands twice in a request, with all that stand beside it.
func TestDiscoverDNSTakesAHostOnce(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	z.set(func() { z.hosts["shop.test."] = []string{"10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1", "10.0.0.2"} })
	got, err := newDNSSource("shop.test.", "shop", false, 80, z.address).read(t.Context())
	var found []string
	for _, e := range got["shop"] {
		found = append(found, e.Address)
	}
	slices.Sort(found)
	if want := []string{"10.0.0.1:80", "10.0.0.2:80"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("it found %q, %v", found, err)
	}
}

// SRV records tell ports and weights; those of the first priority alone are taken.
func TestDiscoverSRV(t *testing.T) {
	t.Parallel()
	z := newZone(t)
	srv := func(priority, weight, port uint16, target string) dnsmessage.SRVResource {
		return dnsmessage.SRVResource{Priority: priority, Weight: weight, Port: port, Target: dnsmessage.MustNewName(target)}
	}
	z.set(func() {
		z.hosts["a.shop.test."], z.hosts["b.shop.test."], z.hosts["c.shop.test."] = []string{"10.0.0.1"}, []string{"10.0.0.2", "10.0.0.1"}, []string{"10.0.0.3"}
		z.records = []dnsmessage.SRVResource{srv(1, 5, 8080, "a.shop.test."), srv(1, 0, 8081, "b.shop.test."), srv(2, 1, 80, "c.shop.test.")}
	})
	d := newDNSSource("_http._tcp.shop.test.", "shop", true, 0, z.address)
	got, err := d.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range got["shop"] {
		out = append(out, e.Address+" "+strings.Repeat("*", deref(e.Weight)))
	}
	slices.Sort(out)
	if want := []string{"10.0.0.1:8080 *****", "10.0.0.1:8081 *", "10.0.0.2:8081 *"}; !slices.Equal(out, want) {
		t.Errorf("it found %q", out)
	}
	// Without one of the targets it is no answer.
	z.set(func() { delete(z.hosts, "b.shop.test.") })
	if got, err := d.read(t.Context()); err == nil {
		t.Errorf("it found %v", got)
	}
	z.set(func() { z.records = nil })
	if got, err := d.read(t.Context()); err == nil {
		t.Errorf("it found %v", got)
	}
}

// That no cluster asks for what a feed puts is told once, and again when it has been otherwise.
func TestDiscoverTellsOfEndpointsThatNoClusterAsksFor(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.endpointAPI()
	w.on("POST", "/endpoints/shop%2Fa", ok(goldenEndpointsUnused), ok(goldenEndpointsUnused), ok(goldenEndpointsWritten), ok(goldenEndpointsUnused))
	at := time.Unix(1_700_000_000, 0)
	path := ""
	weighs := func(n int) func() {
		return func() {
			path = w.file("list.yaml", fmt.Sprintf("- {address: \"10.0.0.1:80\", weight: %d}\n", n))
			at = at.Add(time.Second)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Error(err)
			}
		}
	}
	weighs(1)()
	r := w.feeds([]string{"--source", "file", "--file", path, "--cluster", "shop/a", "--every", "10s"}, weighs(2), func() {}, weighs(3), func() {}, weighs(4), func() {})
	if n := strings.Count(r.err, "warning: no cluster of the fleet asks for endpoints/shop/a\n"); r.code != 0 || n != 2 || len(w.puts()) != 4 {
		t.Errorf("exit status %d, told %d times of %d:\n%s", r.code, n, len(w.puts()), r.err)
	}
}
