package xds

import (
	"fmt"
	"regexp"
	"strings"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"fairlead/internal/fleet"
)

// nodeMatcher returns what tells whether one of the matchers takes a node id. Without
// matchers every node is taken.
func nodeMatcher(ms []*matcherv3.NodeMatcher) (func(id string) bool, error) {
	if len(ms) == 0 {
		return func(string) bool { return true }, nil
	}
	var takes []func(string) bool
	for i, m := range ms {
		if len(m.GetNodeMetadatas()) > 0 {
			return nil, fmt.Errorf("node_matchers[%d].node_metadatas is not served: match node_id: %w", i, fleet.ErrInvalid)
		}
		take, err := stringMatcher(m.GetNodeId())
		if err != nil {
			return nil, fmt.Errorf("node_matchers[%d].node_id: %w", i, err)
		}
		takes = append(takes, take)
	}
	return func(id string) bool {
		for _, take := range takes {
			if take(id) {
				return true
			}
		}
		return false
	}, nil
}

func stringMatcher(m *matcherv3.StringMatcher) (func(string) bool, error) {
	fold := func(s string) string { return s }
	if m.GetIgnoreCase() {
		fold = strings.ToLower
	}
	var is func(s, pattern string) bool
	var pattern string
	switch p := m.GetMatchPattern().(type) {
	case nil:
		return func(string) bool { return true }, nil
	case *matcherv3.StringMatcher_Exact:
		is, pattern = func(s, p string) bool { return s == p }, p.Exact
	case *matcherv3.StringMatcher_Prefix:
		is, pattern = strings.HasPrefix, p.Prefix
	case *matcherv3.StringMatcher_Suffix:
		is, pattern = strings.HasSuffix, p.Suffix
	case *matcherv3.StringMatcher_Contains:
		is, pattern = strings.Contains, p.Contains
	case *matcherv3.StringMatcher_SafeRegex:
		return wholeRegexp(p.SafeRegex.GetRegex())
	default:
		return nil, fmt.Errorf("only exact, prefix, suffix, contains and safe_regex are served: %w", fleet.ErrInvalid)
	}
	pattern = fold(pattern)
	return func(s string) bool { return is(fold(s), pattern) }, nil
}

// wholeRegexp matches the whole text, as Envoy's matchers do. Go's expressions take time
// in proportion to the text, whatever they are.
func wholeRegexp(expr string) (func(string) bool, error) {
	if len(expr) > maxText {
		return nil, fmt.Errorf("the expression takes %d bytes, %d is the limit: %w", len(expr), maxText, fleet.ErrLimit)
	}
	re, err := regexp.Compile(`^(?:` + expr + `)$`)
	if err != nil {
		return nil, fmt.Errorf("the expression cannot be read: %s: %w", err, fleet.ErrInvalid) //nolint:errorlint // its text is for the client
	}
	return re.MatchString, nil
}
