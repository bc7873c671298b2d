// Package envoyversion knows which versions of Envoy Fairlead is tested with, and what the
// older ones of them lack. It does no I/O.
package envoyversion
