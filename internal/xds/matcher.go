package xds

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"fairlead/internal/fleet"
	"fairlead/internal/pattern"
)

// maxMatchers is how many node_matchers a call may have.
const maxMatchers = 16

// matchers tell whether one of a call's node_matchers takes a node id.
type matchers struct {
	takes []func(id string) bool
	size  int // of the programs of all expressions together
}

// nodeMatchers takes expressions whose programs are no larger together than one may be.
func nodeMatchers(ms []*matcherv3.NodeMatcher) (matchers, error) {
	if len(ms) > maxMatchers {
		return matchers{}, tooManyMatchers(len(ms))
	}
	var out matchers
	for i, m := range ms {
		if len(m.GetNodeMetadatas()) > 0 {
			return out, fmt.Errorf("node_matchers[%d].node_metadatas is not served: match node_id: %w", i, fleet.ErrInvalid)
		}
		if err := out.add(m.GetNodeId()); err != nil {
			return out, fmt.Errorf("node_matchers[%d].node_id: %w", i, err)
		}
	}
	return out, nil
}

func tooManyMatchers(n int) error {
	return fmt.Errorf("there are %d node_matchers, %d is the limit: match more nodes with each, or ask more than once: %w", n, maxMatchers, fleet.ErrLimit)
}

// match takes every node if there are no matchers.
func (m matchers) match(id string) bool {
	for _, take := range m.takes {
		if take(id) {
			return true
		}
	}
	return len(m.takes) == 0
}

// cost is of matching an id at worst: RE2 takes every state for every byte.
func (m matchers) cost(id string) int { return (len(m.takes) + m.size) * (len(id) + 1) }

func (m *matchers) add(s *matcherv3.StringMatcher) error {
	if p, ok := s.GetMatchPattern().(*matcherv3.StringMatcher_SafeRegex); ok {
		return m.addRegexp(p.SafeRegex.GetRegex())
	}
	take, err := stringMatcher(s)
	m.takes = append(m.takes, take)
	return err
}

func stringMatcher(m *matcherv3.StringMatcher) (func(string) bool, error) {
	fold := func(s string) string { return s }
	if m.GetIgnoreCase() {
		fold = strings.ToLower
	}
	var is func(s, want string) bool
	var want string
	switch p := m.GetMatchPattern().(type) {
	case nil:
		return func(string) bool { return true }, nil
	case *matcherv3.StringMatcher_Exact:
		is, want = func(s, p string) bool { return s == p }, p.Exact
	case *matcherv3.StringMatcher_Prefix:
		is, want = strings.HasPrefix, p.Prefix
	case *matcherv3.StringMatcher_Suffix:
		is, want = strings.HasSuffix, p.Suffix
	case *matcherv3.StringMatcher_Contains:
		is, want = strings.Contains, p.Contains
	default:
		return nil, fmt.Errorf("only exact, prefix, suffix, contains and safe_regex are served: %w", fleet.ErrInvalid)
	}
	want = fold(want)
	return func(s string) bool { return is(fold(s), want) }, nil
}

// addRegexp matches the whole text, as Envoy's matchers do.
func (m *matchers) addRegexp(expr string) error {
	size, err := pattern.Size(expr)
	switch {
	case errors.Is(err, pattern.ErrSyntax):
		return fmt.Errorf("safe_regex cannot be read: %w: %w", err, fleet.ErrInvalid)
	case err != nil:
		return fmt.Errorf("safe_regex: %w: %w", err, fleet.ErrLimit)
	}
	if m.size += size; m.size > pattern.MaxSize {
		return fmt.Errorf("safe_regex: the expressions of all matchers are too large a program together: use fewer repetitions and classes, or exact and prefix: %w", fleet.ErrLimit)
	}
	re, err := regexp.Compile(`^(?:` + expr + `)$`)
	if err != nil {
		return fmt.Errorf("safe_regex cannot be read: %w: %w", pattern.ErrSyntax, fleet.ErrInvalid)
	}
	m.takes = append(m.takes, re.MatchString)
	return nil
}
