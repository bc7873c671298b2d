package xds

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"fairlead/internal/fleet"
)

// TestT40_PollsAreCountedBeforeTheyAreDecoded: whatever list of a poll has many elements that say nothing, it costs a few times its bytes.
func TestT40_PollsAreCountedBeforeTheyAreDecoded(t *testing.T) { // not parallel: what is allocated is counted
	list := func(one string, n int) string { return "[" + one + strings.Repeat(","+one, n-1) + "]" }
	var unknown strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&unknown, `,"k%d":0`, i)
	}
	const many = 1_000_000
	for what, x := range map[string]struct {
		body   string
		limit  string // what is said where it is refused; "": it is not
		locate bool
		detail string
	}{
		"names":                     {`{"resource_names":` + list(`""`, many) + `}`, "names 1000000 resources, 131072 is the limit", false, ""},
		"names by their other name": {`{"resourceNames":` + list(` "a" `, many/2) + `}`, "names 500000 resources", false, ""},
		"locators":                  {`{"resource_locators":` + list(`{}`, many) + `}`, "", true, ""},
		"locators that say much":    {`{"resourceLocators":` + list(`{"name":"xdstp://a"}`, many/8) + `}`, "", true, ""},
		"details":                   {`{"error_detail":{"code":3,"message":"no","details":` + list(`{}`, many) + `}}`, "", false, "no"},
		"details by another name":   {`{"errorDetail":{"message":"no","details":` + list(`{"@type":"type.googleapis.com/google.protobuf.Empty","value":{}}`, many/40) + `}}`, "", false, "no"},
		"fields":                    {`{"version_info":"1"` + unknown.String() + `}`, "more than 1000 members", false, ""},
		"fields of the node":        {`{"node":{"id":"n"` + unknown.String() + `}}`, "more than 1000 members", false, ""},
	} {
		nodes := &jsonNodes{}
		var r *request
		var err error
		n := allocated(func() {
			r, _, err = decodeJSON([]byte(x.body), bounds{math.MaxInt, new(lists), nil}, nodes, fleet.CredentialID{})
		})
		if most := uint64(24 * len(x.body)); n > most { //nolint:gosec // a length
			t.Errorf("%s: %d MiB were allocated for %d KiB", what, n>>20, len(x.body)>>10)
		}
		switch {
		case x.limit != "":
			if !errors.Is(err, fleet.ErrLimit) || !strings.Contains(fmt.Sprint(err), x.limit) {
				t.Errorf("%s: %v, want %q", what, err, x.limit)
			}
		case err != nil || r.locators != x.locate || r.detail != x.detail || r.nack != (x.detail != ""):
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
}

func TestItemsOfAList(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		``: 0, `7`: 0, `"[1,2]"`: 0, `{"a":[1,2]}`: 0, `null`: 0, `[]`: 0, ` [ ] `: 0, `[1]`: 1, ` [ 1 , 2 ] `: 2, `["a,]","b\"]",[],[[1,2],3],{"a":[1,2]},null,-1.5e9]`: 7,
		`[`: 0, `[,`: 0, `[1,`: 1, `["`: 1, `[{`: 1,
	} {
		if got := items([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
