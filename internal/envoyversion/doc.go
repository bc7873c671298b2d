// Package envoyversion knows which versions of Envoy Fairlead is tested with, what the
// older ones of them lack, and what only builds with contrib have. It does no I/O.
package envoyversion
