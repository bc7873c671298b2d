package jsonpointer_test

import (
	"testing"

	"fairlead/internal/jsonpointer"
)

func TestSteps(t *testing.T) {
	t.Parallel()
	for key, step := range map[string]string{"": "", "a": "a", "a/b": "a~1b", "~": "~0", "~1": "~01", "/~0": "~1~00"} {
		if got := jsonpointer.Escape(key); got != step {
			t.Errorf("%q is written %q, want %q", key, got, step)
		}
		if got := jsonpointer.Unescape(step); got != key {
			t.Errorf("%q is read %q, want %q", step, got, key)
		}
	}
	if got := jsonpointer.Unescape("~2~"); got != "~2~" {
		t.Errorf("what is no escape is read %q", got)
	}
}
