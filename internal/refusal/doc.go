// Package refusal names what nodes refuse. It does no I/O.
package refusal
