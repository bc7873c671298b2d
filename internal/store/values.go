package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"fairlead/internal/fleet"
)

// timeOrNil is how a zero time is stored: as null.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func timeOrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// uuidOrNil is how a zero id is stored: as null.
func uuidOrNil[T ~[16]byte](id T) *[16]byte {
	if id == (T{}) {
		return nil
	}
	u := [16]byte(id)
	return &u
}

func uuidOrZero[T ~[16]byte](u *[16]byte) T {
	if u == nil {
		return T{}
	}
	return T(*u)
}

// hashOf reads a stored hash; a length that no writer of ours makes gives zero, which
// no token has.
func hashOf(b []byte) (h [32]byte) {
	if len(b) == len(h) {
		copy(h[:], b)
	}
	return h
}

// clean makes what a client said fit for a text column: valid UTF-8, no NUL, at most
// limit bytes, cut between characters. A status report must not fail over a name.
func clean(s string, limit int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "�"), "\x00", "�")
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// forTerminal is what somebody else has written as a part of a line: without what a terminal obeys, or shows in another order (T38).
func forTerminal(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, s)
}

// derivedJSON is fleet.Derived as it is stored. Fields are only ever added; the row's
// derive_version tells how complete it is.
type derivedJSON struct {
	Refs    [][2]string `json:"refs,omitempty"` // type, name
	Polled  [][2]string `json:"polled,omitempty"`
	EDSName string      `json:"eds,omitempty"`
	Slow    bool        `json:"slow,omitempty"`
	VHDS    bool        `json:"vhds,omitempty"`
	Scopes  bool        `json:"scopes,omitempty"`
	Domains []string    `json:"domains,omitempty"`
	ByName  bool        `json:"by_name,omitempty"`
}

// encodeDerived returns nil when there is nothing.
func encodeDerived(d fleet.Derived) *derivedJSON {
	if len(d.Refs) == 0 && len(d.Polled) == 0 && d.EDSName == "" && !d.Slow && !d.VHDS && !d.Scopes && len(d.Domains) == 0 && !d.ByName {
		return nil
	}
	j := &derivedJSON{EDSName: d.EDSName, Slow: d.Slow, VHDS: d.VHDS, Scopes: d.Scopes, Domains: d.Domains, ByName: d.ByName}
	j.Refs, j.Polled = pairsOf(d.Refs), pairsOf(d.Polled)
	return j
}

func pairsOf(refs []fleet.Ref) (pairs [][2]string) {
	for _, r := range refs {
		pairs = append(pairs, [2]string{r.Type.Slug(), r.Name})
	}
	return pairs
}

func decodeDerived(b []byte) (d fleet.Derived, err error) {
	if len(b) == 0 {
		return d, nil
	}
	var j derivedJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return d, fmt.Errorf("decode derived columns: %w", err)
	}
	d = fleet.Derived{EDSName: j.EDSName, Slow: j.Slow, VHDS: j.VHDS, Scopes: j.Scopes, Domains: j.Domains, ByName: j.ByName}
	d.Refs, d.Polled = refsOf(j.Refs), refsOf(j.Polled)
	return d, nil
}

// refsOf reads (type, name). A newer writer's types are left out: this build does not
// serve them.
func refsOf(pairs [][2]string) (refs []fleet.Ref) {
	for _, p := range pairs {
		if t, ok := fleet.TypeFromSlug(p[0]); ok {
			refs = append(refs, fleet.Ref{Type: t, Name: p[1]})
		}
	}
	return refs
}

// rivalColumns are a refusal's columns rival and rival_version: what it was refused beside, which has a version, or the cluster that it lacked, which
// has none.
func rivalColumns(f fleet.Refusal) (name, version string) {
	if f.Rival == (fleet.Rival{}) {
		return f.Lacked, ""
	}
	return f.Rival.Name, f.Rival.Version
}

func rivalOf(name, version string) (beside fleet.Rival, lacked string) {
	if version == "" {
		return beside, name
	}
	return fleet.Rival{Name: name, Version: version}, ""
}

// seconds scans a whole number of them.
type seconds time.Duration

func (s *seconds) ScanInt64(v pgtype.Int8) error {
	*s = seconds(time.Duration(v.Int64) * time.Second)
	return nil
}

// wholeSeconds is a duration as a column has it. What is not whole, or too long, becomes a
// number that no column takes.
func wholeSeconds(d time.Duration) int32 {
	if s := d / time.Second; d%time.Second == 0 && s == time.Duration(int32(s)) { //nolint:gosec // compared
		return int32(s) //nolint:gosec // compared
	}
	return -1
}
