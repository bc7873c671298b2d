package httpapi

import (
	"strings"
	"testing"

	"fairlead/internal/fleet"
)

func TestEveryActionHasWordsAndACode(t *testing.T) {
	for _, a := range fleet.Actions() {
		words, code := actionWords(a, false), actionCode(a)
		if a == fleet.ActionNone {
			if words != "" || code != nil || actionWords(a, true) != "" {
				t.Errorf("something is told of no action: %q, %v", words, code)
			}
			continue
		}
		if words == "" || !code.Valid() {
			t.Errorf("%v is told as %q, %q", a, words, *code)
		}
		if beside := actionWords(a, true); !strings.HasPrefix(beside, words+"; ") {
			t.Errorf("%v beside another stream: %q", a, beside)
		}
	}
}
