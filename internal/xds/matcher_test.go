package xds

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
)

func byRegexp(exprs ...string) (ms []*matcherv3.NodeMatcher) {
	for _, e := range exprs {
		ms = append(ms, &matcherv3.NodeMatcher{NodeId: &matcherv3.StringMatcher{
			MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: e}},
		}})
	}
	return ms
}

// TestT20_ExpressionsOfMatchersAreBounded: each by REST's measure, and all of a call together
// by that of one.
func TestT20_ExpressionsOfMatchersAreBounded(t *testing.T) {
	t.Parallel()
	bomb := strings.Repeat(`.{1000}`, 73)
	for name, c := range map[string]struct {
		exprs []string
		says  string
		kind  error
	}{
		"the bomb":     {[]string{bomb}, "node_matchers[0].node_id: safe_regex: this regular expression is too large a program", fleet.ErrLimit},
		"many halves":  {[]string{`.{1000}.{1000}.{1000}`, `.{1000}.{1000}.{1000}`, `.{1000}.{1000}.{1000}`, `.{1000}.{1000}.{1000}`}, "node_matchers[3].node_id: safe_regex: the expressions of all matchers", fleet.ErrLimit},
		"too long":     {[]string{strings.Repeat("a", 1025)}, "1024 bytes", fleet.ErrLimit},
		"no such":      {[]string{"("}, "cannot be read", fleet.ErrInvalid},
		"plain":        {[]string{`edge-[0-9]+`, `core-(a|b)`}, "", nil},
		"no more than": {[]string{strings.Repeat("a", 1024)}, "", nil},
	} {
		_, err := nodeMatchers(byRegexp(c.exprs...))
		if !errors.Is(err, c.kind) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if _, err := nodeMatchers(byRegexp(strings.Split(strings.Repeat("a ", 16)+"a", " ")...)); !errors.Is(err, fleet.ErrLimit) {
		t.Errorf("17 matchers: %v", err)
	}
}

// TestT20_MatchingIsBounded: it ends with its client, and before it has cost too much.
func TestT20_MatchingIsBounded(t *testing.T) {
	t.Parallel()
	all, err := auth.ParseNodePattern("*")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{}
	c, id := csds{srv: s}, Identity{Nodes: all}
	const nodes = 10_000
	for i := range nodes {
		st := &stream{}
		st.node.node.ID = fmt.Sprintf("edge-%s-%d", strings.Repeat("x", 30), i)
		s.streams.add(st)
	}
	choose := func(ctx context.Context, exprs ...string) (int, error) {
		t.Helper()
		m, err := nodeMatchers(byRegexp(exprs...))
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := c.choose(ctx, id, m)
		return len(chosen), err
	}
	if n, err := choose(t.Context(), `edge-[a-z]{1,40}-[0-9]+`); n != nodes || err != nil {
		t.Errorf("a plain expression: %d, %v", n, err)
	}
	if n, err := choose(t.Context()); n != nodes || err != nil {
		t.Errorf("none: %d, %v", n, err)
	}
	if _, err := choose(t.Context(), `.{0,900}.{0,900}.{0,900}`); !errors.Is(err, fleet.ErrLimit) || !strings.Contains(err.Error(), "too dear for so many nodes") {
		t.Errorf("a dear one: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := choose(gone, `edge-x+-[0-9]+`); n != 0 || !errors.Is(err, fleet.ErrUnavailable) {
		t.Errorf("a client that has gone: %d, %v", n, err)
	}
	s.streams.turn() <- struct{}{} // somebody matches
	if _, err := choose(gone, `edge-x+-[0-9]+`); !errors.Is(err, fleet.ErrUnavailable) || !strings.Contains(err.Error(), "ask again") {
		t.Errorf("while another one matches: %v", err)
	}
}
