// Package pattern bounds regular expressions before they are compiled, for everybody who takes
// them from outside. It does no I/O.
package pattern

import (
	"errors"
	"regexp/syntax"
)

// Limits of regular expressions. RE2, which both sides use, is linear in the text, but a short
// expression can still be a huge program.
const (
	MaxBytes = 1024
	MaxSize  = 20_000
)

// Why an expression is refused.
var (
	ErrLong   = errors.New("a regular expression may be 1024 bytes long")
	ErrSyntax = errors.New("this is not a regular expression (RE2)")
	ErrLarge  = errors.New("this regular expression is too large a program: use fewer repetitions and classes")
)

// Size estimates the size of the program that an expression is compiled to, without compiling
// it. Its cost is that of parsing MaxBytes.
func Size(expr string) (int, error) {
	if len(expr) > MaxBytes {
		return 0, ErrLong
	}
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return 0, ErrSyntax
	}
	size := sizeOf(re)
	if size > MaxSize {
		return 0, ErrLarge
	}
	return size, nil
}

// sizeOf goes no further than MaxSize.
func sizeOf(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		if size += sizeOf(sub); size > MaxSize {
			return size
		}
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return size
}
