package xdstest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"fairlead/internal/fleet"
)

// Response is what a client receives, of either protocol.
type Response struct {
	Type      fleet.Type
	Version   string // version_info, or system_version_info
	Nonce     string
	Resources []Item // by name
	Removed   []string
	Errors    []Error // by name
	Size      int     // in bytes

	from *stream
}

// Error is why a resource is not sent.
type Error struct {
	Name string
	Code codes.Code
	Why  string
}

// Item is one resource of a response.
type Item struct {
	Name    string   // Resource.name; in state of the world, the name within the body
	Inner   string   // the name within the body
	Label   string   // the version that the test gave it; "empty" of an empty assignment
	Version string   // Resource.version
	Aliases []string // of which some was asked for
	TTL     time.Duration
	HasTTL  bool
	Wrapped bool     // state of the world: in a Resource
	Bare    bool     // it has no body: a heartbeat, or the answer that there is none
	Targets []string // clusters that its routes name
}

// String is short: "a@1"; "a@1/10s" with a TTL; "r/vh@1=r/host" found by an alias;
// "~a@1/10s" is a heartbeat and "!r/host" the answer that there is no such virtual host.
func (i Item) String() string {
	if i.Bare && slices.Contains(i.Aliases, i.Name) {
		return "!" + i.Name
	}
	s := i.Name + "@" + i.Label
	if i.Bare {
		s = "~" + s
	}
	if i.HasTTL {
		s += "/" + i.TTL.String()
	}
	if len(i.Aliases) > 0 {
		s += "=" + strings.Join(i.Aliases, ",")
	}
	return s
}

// String is short: "clusters a@1 b@2 -c d!NotFound".
func (r *Response) String() string {
	var b strings.Builder
	b.WriteString(r.Type.Slug())
	for _, x := range r.Resources {
		b.WriteString(" " + x.String())
	}
	for _, x := range r.Removed {
		b.WriteString(" -" + x)
	}
	for _, e := range r.Errors {
		b.WriteString(" " + e.Name + "!" + e.Code.String())
	}
	return b.String()
}

// Item returns the resource of that name, nil if there is none.
func (r *Response) Item(name string) *Item {
	for i := range r.Resources {
		if r.Resources[i].Name == name {
			return &r.Resources[i]
		}
	}
	return nil
}

// Heartbeat reports whether the response does nothing but renew TTLs.
func (r *Response) Heartbeat() bool {
	for _, x := range r.Resources {
		if !x.Bare || slices.Contains(x.Aliases, x.Name) {
			return false
		}
	}
	return len(r.Resources) > 0 && len(r.Removed) == 0
}

// faults is what no response may be (PROTOCOL rule 9, and the nonce).
func (r *Response) faults() []string {
	var found []string
	seen := map[string]bool{}
	for _, x := range r.Resources {
		if seen[x.Name] {
			found = append(found, fmt.Sprintf("%s stands twice in one response", x.Name))
		}
		seen[x.Name] = true
		if !x.Bare && x.Inner != x.Name {
			found = append(found, fmt.Sprintf("Resource.name is %q, the name within is %q", x.Name, x.Inner))
		}
	}
	for _, n := range r.Removed {
		if seen[n] {
			found = append(found, fmt.Sprintf("%s stands twice in one response", n))
		}
		seen[n] = true
	}
	for _, e := range r.Errors {
		if seen[e.Name] {
			found = append(found, fmt.Sprintf("%s stands twice in one response", e.Name))
		}
		seen[e.Name] = true
		if e.Code == codes.OK || e.Why == "" {
			found = append(found, fmt.Sprintf("the error of %s says nothing", e.Name))
		}
	}
	if r.Nonce == "" {
		found = append(found, "a response without a nonce")
	}
	return found
}
