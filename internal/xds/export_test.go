package xds

import "fairlead/internal/fleet"

// Turns sets how many streams of a server may plan at a time, before it has any.
func Turns(s *Server, n int) { s.turns = newTurns(n) }

// TakeTurn is a stream of another fleet that plans until leave is called.
func TakeTurn(s *Server) (leave func()) {
	t := turn{of: s.turns, key: fleet.Key{Fleet: fleet.NewID()}}
	t.take()
	return t.leave
}
