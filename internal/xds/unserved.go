package xds

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"fairlead/internal/fleet"
)

const (
	// maxUnserved is how many types that are not served a stream may ask for: with one more it ends.
	maxUnserved = 16
	// maxTypeURL is how much of a type URL is told, in bytes.
	maxTypeURL = 128
	// maxNote is how much of what a client asked for is told, in bytes.
	maxNote = 256
)

// leaveUnanswered takes in that the client asks for a type that is not served, and tells the fleet of it. Content can make a proxy do so, and
// what else the stream is for must not suffer. No answer is the one that an Envoy takes best: it goes on after its
// initial_fetch_timeout, while the word that a route does not exist has its listener warm for ever (PROTOCOL rule 5).
func (st *stream) leaveUnanswered(url string) error {
	url = shortened(url, maxTypeURL)
	if _, again := st.unserved[url]; again {
		return nil
	}
	if len(st.unserved) >= maxUnserved {
		return fmt.Errorf("the stream asks for more than %d types that are not served, the last is %q: ask for those that are: %w", maxUnserved, url, fleet.ErrLimit)
	}
	if st.unserved == nil {
		st.unserved = make(map[string]struct{})
	}
	st.unserved[url] = struct{}{}
	st.say(slog.LevelWarn, "a type that is not served is left unanswered", fmt.Errorf("type_url %q: %w", url, fleet.ErrInvalid))
	st.srv.cfg.Metrics.Unserved()
	st.deny(fleet.DeniedType, url)
	return nil
}

// deny tells the fleet that the client is not given what it asks for.
func (st *stream) deny(reason fleet.DeniedReason, note string) {
	if tell := st.srv.cfg.Denied; tell != nil {
		tell(st.id, reason, st.node.node.ID, remote(st.ctx), note)
	}
}

// tellRefused tells the fleet of a stream that ended, or did not begin, for what it asked. "fairlead doctor" asks for no type on purpose: it is no client that gets nothing.
func (st *stream) tellRefused(err error) {
	if errors.Is(err, errNoType) && st.node.node.UserAgent == fleet.DoctorAgent {
		return
	}
	if errors.Is(err, fleet.ErrLimit) || errors.Is(err, fleet.ErrInvalid) {
		st.deny(fleet.DeniedRequest, shortened(fleet.Sentence(err), maxNote))
	}
}

// shortened is the beginning of a text, which keeps nothing of the rest.
func shortened(s string, most int) string {
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && most-cut < utf8.UTFMax-1 && !utf8.RuneStart(s[cut]) { // half of a character is none
		cut--
	}
	return strings.Clone(s[:cut])
}
