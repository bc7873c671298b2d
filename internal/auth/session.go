package auth

import (
	"strings"

	"fairlead/internal/fleet"
)

// NewSession draws the secret of a session of the web page, which stands in its cookie. Only
// the hash may be stored.
func NewSession() (id fleet.SessionID, secret Secret, hash [32]byte) {
	id = fleet.NewSessionID()
	text := withSum(sessionPrefix + encode62(id[:], idWidth) + newSecret())
	return id, Secret(text), Hash(text)
}

// ParseSession checks the shape and the checksum of a session's secret and reads its id. It
// says nothing about whether the session is open. Every error is ErrUnauthenticated and
// holds no part of the input.
func ParseSession(s string) (fleet.SessionID, error) {
	var id fleet.SessionID
	if len(s) != apiTokenLen || !strings.HasPrefix(s, sessionPrefix) || !partsHold(s, id[:]) {
		return fleet.SessionID{}, refuse("the session's cookie is damaged")
	}
	return id, nil
}
