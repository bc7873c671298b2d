package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// TestSoakT16_FloodsHurtNobody: beside each flood of connections of strangers and of a node, for FAIRLEAD_SOAK each, a live stream hears of
// changes within twice the time that it takes before and after, and after it the server has what it had of the machine's memory, within a
// tenth. Beside all of them together the memory is, and their clients have the processors. The log stays small. The floods are of a process that yields to all others: what an attacker's machine has to do is not the server's.
func TestSoakT16_FloodsHurtNobody(t *testing.T) {
	d := soakLasts(t, 150*time.Millisecond)
	w := setup(t)
	w.Apply(world.Together(static("a", "1s")))
	debug := world.FreePort(t)
	server := &floodedServer{w.XDS("--debug-listen", debug, "--max-connection-age", "0s"), debug} // a stream that ends of age hears of nothing
	arrivals := w.listen(server.Address)
	node, _ := w.Credential()
	changes := 0
	hears := func(d time.Duration) []float64 { return w.hears(arrivals, d, &changes) }
	floods := []floodOrder{
		{Kind: "rapid reset", Connections: 16}, {Kind: "SETTINGS", Connections: 8, Token: node}, {Kind: "silence", Connections: 600},
	}
	if full() {
		floods = append(floods, floodOrder{Kind: "rapid reset", Connections: 16, Token: node}, floodOrder{Kind: "calls", Connections: 8},
			floodOrder{Kind: "SETTINGS", Connections: 8}, floodOrder{Kind: "PRIORITY", Connections: 8},
			floodOrder{Kind: "WINDOW_UPDATE", Connections: 8, Token: node}, floodOrder{Kind: "empty DATA", Connections: 8},
			floodOrder{Kind: "PING", Connections: 8}, floodOrder{Kind: "PING", Connections: 8, Token: node}, floodOrder{Kind: "CONTINUATION", Connections: 8})
	}
	cases := map[string][]floodOrder{}
	for _, o := range floods {
		cases[fmt.Sprintf("%s, token %t", o.Kind, o.Token != "")] = []floodOrder{o}
	}
	if full() {
		cases["all together"] = floods
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			begin := func() (end func() floodCount) {
				var ends []func() floodCount
				for _, o := range cases[name] {
					o.Address = server.Address
					ends = append(ends, w.beginFlood(t, o))
				}
				return func() (all floodCount) {
					for _, end := range ends {
						c := end()
						all.Connections, all.Writes = all.Connections+c.Connections, all.Writes+c.Writes
					}
					return all
				}
			}
			alone := hears(d / 20)
			end := begin()
			hears(d / 20) // pools and buffers become what they will be
			end()
			before, logged := server.resident(t), len(world.Read(t, server.Log))
			end = begin()
			beside := hears(d)
			during, peak := server.resident(t), (&measured{server.Program}).memory(t, "VmHWM")
			grew := len(world.Read(t, server.Log)) - logged
			count := end()
			alone = append(alone, hears(d/20)...)
			after := server.resident(t)
			t.Logf("%d connections, %d writes; p99 %.1f ms of %d changes, alone %.1f ms of %d; before %d KiB, during %d (peak %d), after %d; the log grew by %d bytes",
				count.Connections, count.Writes, p99Of(beside), len(beside), p99Of(alone), len(alone), before, during, peak, after, grew)
			if most := before + before/10; full() && after > most {
				t.Errorf("it has %d KiB after the flood, and had %d KiB", after, before)
			}
			slack := 8 << 10 // KiB, of the connections that are there
			if !full() {
				slack = 64 << 10
			}
			if most := before + before/10 + slack; during > most {
				t.Errorf("it has %d KiB during the flood, and had %d KiB", during, before)
			}
			if most := 4096 * int(d/time.Second+2); grew > most {
				t.Errorf("the log grew by %d bytes, want at most %d", grew, most)
			}
			if full() && len(cases[name]) == 1 && p99Of(beside) > 2*max(p99Of(alone), 5) {
				t.Errorf("changes take %.1f ms, and alone %.1f ms", p99Of(beside), p99Of(alone))
			}
		})
	}
}

// floodedServer is one whose memory is looked at.
type floodedServer struct {
	*world.XDS
	debug string // address
}

// beginFlood starts a flood in a process of its own, that yields to all others, until end is called.
func (w *installation) beginFlood(t *testing.T, o floodOrder) (end func() floodCount) {
	t.Helper()
	order, err := json.Marshal(o)
	world.Must(t, err)
	cmd := elsewhere(context.WithoutCancel(t.Context()), os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), floodEnv+"="+string(order)), os.Stderr
	var out bytes.Buffer
	cmd.Stdout = &out
	in, err := cmd.StdinPipe()
	world.Must(t, err)
	world.Must(t, cmd.Start())
	world.Must(t, yieldsSession(cmd))
	ended := false
	end = func() (count floodCount) {
		if ended {
			return count
		}
		ended = true
		_ = in.Close()
		world.Must(t, cmd.Wait())
		world.Must(t, json.Unmarshal(out.Bytes(), &count))
		return count
	}
	t.Cleanup(func() { end() })
	return end
}

// hears changes a cluster for that time, 50 times a second at most and ten times at least, and tells how long each change took to the node, in ms.
func (w *installation) hears(arrivals <-chan time.Time, d time.Duration, changes *int) (took []float64) {
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for began := time.Now(); time.Since(began) < d || len(took) < 10; {
		if r := static("a", fmt.Sprint(2+*changes%2, "s")); !w.puts(r) {
			<-pace.C // it asks to be repeated: the machine stood still
			continue
		}
		*changes++
		answered := time.Now()
		took = append(took, (<-arrivals).Sub(answered).Seconds()*1000)
		<-pace.C
	}
	return took
}

// puts reports whether the resource was written: if not, the database had no time for it.
func (w *installation) puts(r world.Resource) bool {
	w.T.Helper()
	resp, err := w.REST.PutResourceWithBodyWithResponse(w.T.Context(), w.Tenant, w.Fleet, client.TypeParam(r.Type), r.Name, nil,
		"application/yaml", strings.NewReader(r.Document()))
	world.Must(w.T, err)
	if code := resp.StatusCode(); code != http.StatusOK && code != http.StatusServiceUnavailable {
		w.T.Fatalf("put %s %s: %d %s", r.Type, r.Name, code, resp.Body)
	}
	return resp.StatusCode() == http.StatusOK
}

func p99Of(took []float64) float64 {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)*99/100]
}

// resident is what the server has of the machine's memory when garbage is given back, in KiB: the least of five readings, as what comes
// between the collection and the reading is garbage too.
func (p *floodedServer) resident(t *testing.T) int {
	t.Helper()
	least := math.MaxInt
	for range 5 {
		resp, err := http.Post("http://"+p.debug+"/memory", "", nil)
		world.Must(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		least = min(least, (&measured{p.Program}).memory(t, "VmRSS"))
	}
	return least
}
