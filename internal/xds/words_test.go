package xds_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	basicauthv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/basic_auth/v3"
	statusv3 "github.com/envoyproxy/go-control-plane/envoy/service/status/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/fleet"
	"fairlead/internal/xds/xdstest"
)

// withUsers is an extension as it was taken before keys had to be in Secrets.
func withUsers(t *testing.T, name, users string) xdstest.Change {
	t.Helper()
	config, err := anypb.New(&basicauthv3.BasicAuth{Users: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: users}}})
	if err != nil {
		t.Fatal(err)
	}
	c := xdstest.Put(fleet.Extension, name, "1")
	c.Body = &corev3.TypedExtensionConfig{Name: name, TypedConfig: config}
	return c
}

const users = "user:{SHA}cAnArY-7f3a9e51"

// TestT42_AKeyIsInNoRefusalAndNoStatus: what a client quotes of a resource outside of
// Secrets is not kept, and the status shows the resource without it.
func TestT42_AKeyIsInNoRefusalAndNoStatus(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		w.Publish(withUsers(t, "a", users))
		s.Subscribe(fleet.Extension, "a")
		r := s.Next()
		synctest.Wait()
		nodes := fetchStatus(xdstest.As(t.Context(), "*"), t, w, &statusv3.ClientStatusRequest{})
		wire, err := proto.Marshal(nodes[0])
		if err != nil || strings.Contains(string(wire), "cAnArY") || !strings.Contains(string(wire), "[redacted]") {
			t.Errorf("the status: %q, %v", wire, err)
		}
		s.Nack(r, "a is no good: "+strconv.Quote(users))
		synctest.Wait()
		refusals := w.Refusals()
		if len(refusals) != 1 || refusals[0].Detail != `a is no good: "[redacted]"` {
			t.Errorf("refusals %+v", refusals)
		}
		if refusals[0].Blame[0].Refused.Harmless() {
			t.Error("what holds a key is not looked at again")
		}
		s.Settle()
		w.Publish(xdstest.Put(fleet.Extension, "a", "2"))
		s.Nack(s.Next(), "a is no good")
		synctest.Wait()
		if last := w.Refusals()[len(w.Refusals())-1]; last.Detail != "a is no good" || !last.Blame[0].Refused.Harmless() {
			t.Errorf("what holds no key is looked at by each stream: %+v", last)
		}
	})
}

// TestT42_WordsAboutTooManyKeysAreDropped but for the reason.
func TestT42_WordsAboutTooManyKeysAreDropped(t *testing.T) {
	both(t, func(t *testing.T, w *xdstest.World, s *xdstest.Client) {
		var changes []xdstest.Change
		var names []string
		for i := range 1_001 {
			names = append(names, fmt.Sprint("e", i))
			changes = append(changes, withUsers(t, names[i], fmt.Sprint(users, i)))
		}
		w.Publish(changes...)
		s.Subscribe(fleet.Extension, names...)
		for r, ok := s.Next(), true; ok; r, ok = s.NextOrQuiet() { // until it is found, as the words name none
			if slices.ContainsFunc(r.Resources, func(x xdstest.Item) bool { return x.Name == "e7" }) {
				s.Nack(r, "no good: goo.gle/debugstr "+users+"1000: Proto constraint validation failed (e7)")
			} else {
				s.Ack(r)
			}
		}
		synctest.Wait()
		refusals := w.Refusals()
		if len(refusals) != 1 || refusals[0].Detail != "Proto constraint validation failed (e7)" {
			t.Errorf("refusals %+v", refusals)
		}
	})
}

// TestT42_WordsAboutAnEarlierResponse, which stand beside an ACK in state of the world, quote
// no key of that one.
func TestT42_WordsAboutAnEarlierResponse(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := xdstest.New(t)
		s := w.Open(xdstest.SotWADS, "n1")
		w.Publish(xdstest.Put(fleet.Extension, "a", "0"), xdstest.Put(fleet.Extension, "b", "0"))
		s.Subscribe(fleet.Extension, "a", "b")
		s.Ack(s.Next())
		w.Publish(withUsers(t, "a", users+"a"), withUsers(t, "b", users+"b"))
		s.Nack(s.Next(), "no good")
		repair := s.Next()
		s.Send(xdstest.Request{Type: fleet.Extension, Names: []string{"a", "b"}, Version: repair.Version, Nonce: repair.Nonce, Error: "error parsing \"Extension\" response: resource \"a\": it is no good: \"" + users + "a\""})
		synctest.Wait()
		refusals := w.Refusals()
		if len(refusals) != 1 || refusals[0].Detail != `error parsing "Extension" response: resource "a": it is no good: "[redacted]"` {
			t.Errorf("refusals %+v", refusals)
		}
	})
}
