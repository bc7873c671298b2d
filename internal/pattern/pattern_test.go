package pattern_test

import (
	"errors"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"fairlead/internal/pattern"
)

// TestT20_ProgramsOfExpressionsAreBounded: what is let through is compiled in little memory.
func TestT20_ProgramsOfExpressionsAreBounded(t *testing.T) {
	for expr, want := range map[string]error{
		"":                                nil,
		`edge-[0-9]+`:                     nil,
		`^(a|b)*\.example\.com$`:          nil,
		strings.Repeat(`.{100}`, 90):      nil,
		strings.Repeat(`.{1000}`, 73):     pattern.ErrLarge,
		`((.{50}){50}){50}`:               pattern.ErrSyntax, // Go's own limit of repetitions
		`((.{30}){30}){1000}`:             pattern.ErrSyntax,
		strings.Repeat(`[\p{L}]`, 100):    pattern.ErrLarge,
		`(`:                               pattern.ErrSyntax,
		strings.Repeat("a", 1024):         nil,
		strings.Repeat("a", 1025):         pattern.ErrLong,
		strings.Repeat(`[\p{L}\p{N}]`, 9): nil,
	} {
		size, err := pattern.Size(expr)
		if !errors.Is(err, want) || size > pattern.MaxSize {
			t.Errorf("%.40q has the size %d, %v, want %v", expr, size, err, want)
		}
		if err != nil {
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		regexp.MustCompile(`^(?:` + expr + `)$`)
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 8 {
			t.Errorf("%.40q took %d MiB to compile", expr, n)
		}
	}
}
