// Package refusal names what nodes refuse, and says what of it stands. It does no I/O.
package refusal
