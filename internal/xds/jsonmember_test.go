package xds

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"fairlead/internal/fleet"
)

// envoysNode is as large as a real one's: it lists its extensions.
func envoysNode(id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"id":%q,"cluster":"edge","user_agent_name":"envoy","metadata":{"a":"\\\\\"}{","b":[1,{"c":null}]},"extensions":[{}`, id)
	for i := range 400 {
		fmt.Fprintf(&b, `,{"name":"envoy.filters.http.extension_%d","category":"envoy.filters.http","type_urls":["envoy.extensions.filters.http.extension_%d.v3.Extension"]}`, i, i)
	}
	return b.String() + "]}"
}

// decoded is what decodeJSON says of a poll.
func decoded(body string, nodes *jsonNodes) (r *request, id, words string) {
	r, node, err := decodeJSON([]byte(body), bounds{math.MaxInt, new(lists), nil}, nodes, fleet.CredentialID{})
	if err != nil {
		return nil, "", err.Error()
	}
	if node != nil {
		id = node.id
	}
	r.bounds = bounds{}
	return r, id, ""
}

// TestAKnownNodeIsReadAlike: a poll says the same, or is refused in the same words, whether its node was read before or not.
func TestAKnownNodeIsReadAlike(t *testing.T) {
	t.Parallel()
	node := envoysNode("n1")
	found := 0
	for _, body := range []string{
		`{"node":%s}`, ` { "version_info" : "1" , "node" : %s , "resource_names" : [ "a" ] } `, `{"resource_names":["{\"node\":","b\\\\"],"node":%s,"type_url":"t"}`,
		`{"node":%s,"node":%s}`, `{"node":%s,"\u006eode":%s}`, `{"\u006eode":%s,"node":%s}`, `{"\u006eode":%s}`, `{"node":null,"node":%s}`, `{"node":%s,"node":null}`,
		`{"node":%s`, `{"node":%s}}`, `{"node":%s} {}`, `{"node":%s,}`, `{"node":%s,"a"}`, `{"node":%s "a":1}`, `{"version_info":,"node":%s}`, `{"version_info":x,"node":%s}`, `{"version_info":1 2,"node":%s}`,
		`{"version_info":"\x","node":%s}`, `{"error_detail":{"node":%s}}`, `{"a":[{"node":%s}],"node":{"id":"n2"}}`, `[{"node":%s}]`, `{"node":[%s]}`, `{"a":{]},"node":%s}`, `{"node" %s}`, `{node:%s}`, `{"a":"b,"node":%s}`, `%s`, ``, `{`, `{"`, `{"node`,
		`{"node":`, `{"node":{`, `{"node":{"id":"}`,
	} {
		text := strings.ReplaceAll(body, "%s", node)
		nodes := &jsonNodes{}
		if _, _, words := decoded(`{"node":`+node+`}`, nodes); words != "" {
			t.Fatal(words)
		}
		want, id, words := decoded(text, &jsonNodes{})
		got, sameID, sameWords := decoded(text, nodes)
		if sameID != id || sameWords != words || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: known it is %+v of %q, %q; else %+v of %q, %q", body, got, sameID, sameWords, want, id, words)
		}
		if n, _ := nodes.knownIn(fleet.CredentialID{}, []byte(text)); n != nil {
			found++
		}
	}
	if found < 10 {
		t.Errorf("in %d polls the node was known", found)
	}
}

// FuzzKnownNode: likewise, of whatever stands around a node that is known.
func FuzzKnownNode(f *testing.F) {
	const node = `{"id":"n1","metadata":{"a":"}\\\""}}`
	for _, x := range [][2]string{{`{"node":`, `}`}, {`{"a":"\\\"","node":`, `,"resource_names":["b"]}`}, {`{"node":{},"node":`, `}`}, {`{"a":[{`, `}],"node":`}} {
		f.Add(x[0], x[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		nodes := &jsonNodes{}
		_, _, _ = decoded(`{"node":`+node+`}`, nodes)
		text := before + node + after
		want, id, words := decoded(text, &jsonNodes{})
		got, sameID, sameWords := decoded(text, nodes)
		if sameID != id || (sameWords == "") != (words == "") || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: known it is %+v of %q, %q; else %+v of %q, %q", text, got, sameID, sameWords, want, id, words)
		}
	})
}

// Ever new nodes of one credential have their own forgotten, and those of no other; all together take no more than they may.
func TestT08_NewNodesOfACredentialHaveNoOthersForgotten(t *testing.T) {
	t.Parallel()
	nodes, theirs, hostile := &jsonNodes{}, fleet.NewCredentialID(), fleet.NewCredentialID()
	poll := func(id string) []byte { return []byte(`{"node":` + envoysNode(id) + `}`) }
	read := func(whose fleet.CredentialID, id, pad string) {
		t.Helper()
		body := fmt.Appendf(nil, `{"node":{"id":%q,"metadata":{"a":%q}}}`, id, pad)
		if pad == "" {
			body = poll(id)
		}
		if _, _, err := decodeJSON(body, bounds{math.MaxInt, new(lists), nil}, nodes, whose); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		read(theirs, fmt.Sprint(i), "")
	}
	pad := strings.Repeat("x", 60<<10)
	for i := range 2 * maxNodes / len(pad) {
		read(hostile, fmt.Sprint(i), pad)
		if nodes.size > maxNodes {
			t.Fatalf("the nodes take %d bytes", nodes.size)
		}
	}
	for i := range 10 {
		if n, _ := nodes.knownIn(theirs, poll(fmt.Sprint(i))); n == nil {
			t.Errorf("node %d is forgotten", i)
		}
	}
	if n, _ := nodes.knownIn(hostile, poll("0")); n != nil {
		t.Error("a node of another credential is known")
	}
	for range maxNodes / 1024 { // so do credentials of one small node each
		read(fleet.NewCredentialID(), "n", "x")
	}
	size := 0
	for _, own := range nodes.of {
		size += own.size
	}
	if size != nodes.size || size > maxNodes || len(nodes.of) < maxNodes/4096 {
		t.Errorf("%d credentials: %d bytes are counted as %d", len(nodes.of), size, nodes.size)
	}
}

// BenchmarkEnvoysPoll decodes the poll of an Envoy, whose node was read before.
func BenchmarkEnvoysPoll(b *testing.B) {
	nodes, body := &jsonNodes{}, []byte(`{"version_info":"1","node":`+envoysNode("n1")+`,"type_url":"type.googleapis.com/envoy.config.cluster.v3.Cluster"}`)
	names := new(lists)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := decodeJSON(bytes.Clone(body), bounds{math.MaxInt, names, nil}, nodes, fleet.CredentialID{}); err != nil {
			b.Fatal(err)
		}
	}
}
