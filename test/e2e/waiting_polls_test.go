package e2e

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/test/world"
)

// answeredPoll is how a poll over REST ended. code 0: it did not.
type answeredPoll struct {
	code  int
	words string
}

// polledVersion is in an answer that has a set.
var polledVersion = regexp.MustCompile(`"version_info":\s*"([^"]+)"`)

// pollClusters polls for all clusters as a node that has this version, over a connection of its own.
func pollClusters(ctx context.Context, address, token, node, version, wait string) answeredPoll {
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	body := sprintf(`{"node":{"id":%q},"version_info":%q}`, node, version)
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v3/discovery:clusters?wait="+wait, strings.NewReader(body))
	if err != nil {
		return answeredPoll{words: err.Error()}
	}
	q.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.Do(q)
	if err != nil {
		return answeredPoll{words: err.Error()}
	}
	defer resp.Body.Close()
	words, err := io.ReadAll(resp.Body)
	if err != nil {
		return answeredPoll{words: err.Error()}
	}
	return answeredPoll{resp.StatusCode, string(words)}
}

// waitingPolls are polls that wait for a change.
type waitingPolls struct {
	sent    int
	answers chan answeredPoll
}

// waitingPolls sends polls of nodes at once. They end with the test.
func (w *installation) waitingPolls(n int, address, token, version string, node func(i int) string) *waitingPolls {
	w.T.Helper()
	ps := &waitingPolls{n, make(chan answeredPoll, n)}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	w.Whole.Cleanup(func() { cancel(); all.Wait() })
	for i := range n {
		all.Go(func() { ps.answers <- pollClusters(ctx, address, token, node(i), version, "55") })
	}
	return ps
}

// want ends the test unless so many of them are answered with the status, and one of these words.
func (ps *waitingPolls) want(t testing.TB, n, code int, words ...string) {
	t.Helper()
	late := time.After(6 * world.Soon)
	for i := range n {
		select {
		case a := <-ps.answers:
			ps.sent--
			fits := len(words) == 0
			for _, word := range words {
				fits = fits || strings.Contains(a.words, word)
			}
			if a.code != code || !fits {
				t.Fatalf("a poll was answered %d %q, want %d with one of %q", a.code, a.words, code, words)
			}
		case <-late:
			t.Fatalf("%d polls were answered, want %d", i, n)
		}
	}
}

// wait ends the test if one of them is answered.
func (ps *waitingPolls) wait(t testing.TB) {
	t.Helper()
	select {
	case a := <-ps.answers:
		t.Fatalf("a poll that waits was answered %d %q", a.code, a.words)
	default:
	}
}

// TestSoakT08_AThousandWaitingPollsOfOneToken: those that the token's limit of streams has room for wait, and so do 16 of one node. The others are refused at once, in words. Another token's node notices
// nothing of it. The full size looks at the memory too.
func TestSoakT08_AThousandWaitingPollsOfOneToken(t *testing.T) {
	t.Parallel()
	polls, room := 120, 40
	if full() {
		polls, room = 1000, 400
	}
	const ofOneNode = 16
	w := setup(t)
	w.Apply(world.Together(static("a", "1s")))
	debug, many := world.FreePort(t), strconv.Itoa(3*polls)
	x := &floodedServer{w.XDS("--debug-listen", debug, "--max-streams-per-credential", strconv.Itoa(room), "--max-unauthenticated-connections", many, "--max-unauthenticated-connections-per-address", many), debug}
	other, _ := w.Credential()
	same, _ := w.Credential()
	var version string
	world.Eventually(t, world.Soon, "no answer", func() bool {
		if found := polledVersion.FindStringSubmatch(pollClusters(t.Context(), x.Address, other, "quiet", "", "0").words); found != nil {
			version = found[1]
		}
		return version != ""
	})
	before := x.resident(t)

	quiet := w.waitingPolls(1, x.Address, other, version, func(int) string { return "quiet" })
	ofNodes := w.waitingPolls(polls, x.Address, w.NodeToken, version, func(i int) string { return "n" + strconv.Itoa(i) })
	ofNodes.want(t, polls-room, http.StatusTooManyRequests, "which is the limit of a credential")
	ofNode := w.waitingPolls(polls, x.Address, same, version, func(int) string { return "one" })
	ofNode.want(t, polls-ofOneNode, http.StatusTooManyRequests, "polls of this node for the same names wait already", "the polls come faster than they are answered")
	if a := pollClusters(t.Context(), x.Address, other, "another", version, "0"); a.code != http.StatusNotModified {
		t.Errorf("a poll of another token was answered %d %q", a.code, a.words)
	}
	for _, ps := range []*waitingPolls{quiet, ofNodes, ofNode} {
		ps.wait(t)
	}
	waiting := room + ofOneNode + 1
	if each := (x.resident(t) - before) / waiting; full() && each > 128 {
		t.Errorf("each of %d polls that wait takes %d KiB, want 128 at most", waiting, each)
	} else {
		t.Logf("%d polls wait, and take %d KiB each", waiting, each)
	}

	// The change reaches each that waits.
	w.Put(static("a", "2s"))
	quiet.want(t, 1, http.StatusOK, `"2s"`)
	ofNodes.want(t, room, http.StatusOK, `"2s"`)
	ofNode.want(t, ofOneNode, http.StatusOK, `"2s"`)
	if quiet.sent+ofNodes.sent+ofNode.sent > 0 {
		t.Errorf("%d, %d and %d polls were not answered", quiet.sent, ofNodes.sent, ofNode.sent)
	}
}
