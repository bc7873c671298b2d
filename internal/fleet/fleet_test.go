package fleet_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"fairlead/internal/fleet"
)

func TestTypesAreAClosedSet(t *testing.T) {
	t.Parallel()
	urls := map[string]bool{}
	for _, typ := range fleet.Types() {
		if got, ok := fleet.TypeFromURL(typ.URL()); !ok || got != typ {
			t.Errorf("%s: its URL is read as %v, %v", typ, got, ok)
		}
		if got, ok := fleet.TypeFromSlug(typ.Slug()); !ok || got != typ {
			t.Errorf("%s: its slug is read as %v, %v", typ, got, ok)
		}
		urls[typ.URL()] = true
	}
	if len(urls) != fleet.NumTypes {
		t.Errorf("%d URLs of %d types", len(urls), fleet.NumTypes)
	}
	for _, url := range []string{"", "clusters", "type.googleapis.com/envoy.api.v2.Cluster", "type.googleapis.com/envoy.config.cluster.v3.cluster"} {
		if typ, ok := fleet.TypeFromURL(url); ok {
			t.Errorf("%q is read as %s", url, typ)
		}
	}
}

func TestActionsHaveNames(t *testing.T) {
	for _, a := range fleet.Actions() {
		if got, ok := fleet.ParseAction(a.String()); !ok || got != a {
			t.Errorf("%d is called %q, which is %d", a, a, got)
		}
	}
	if a, ok := fleet.ParseAction("of another day"); ok || a != fleet.ActionNone {
		t.Errorf("an unknown name is %v", a)
	}
}

// PROTOCOL rule 1: the legacy wildcard is of these types and of no other.
func TestLegacyWildcard(t *testing.T) {
	t.Parallel()
	for _, typ := range fleet.Types() {
		sotw := typ == fleet.Listener || typ == fleet.Cluster || typ == fleet.ScopedRoute
		if got := typ.LegacyWildcard(false); got != sotw {
			t.Errorf("%s in state of the world: %v", typ, got)
		}
		if got, want := typ.LegacyWildcard(true), sotw || typ == fleet.VirtualHost; got != want {
			t.Errorf("%s in delta: %v", typ, got)
		}
	}
}

// A log is searched for the id that the API tells.
func TestLogsHoldReadableIDs(t *testing.T) {
	t.Parallel()
	tenant, id, credential, server := fleet.NewTenantID(), fleet.NewID(), fleet.NewCredentialID(), fleet.NewServerID()
	for _, x := range []fmt.Stringer{tenant, id, credential, server, fleet.Key{Tenant: tenant, Fleet: id}} {
		var line bytes.Buffer
		slog.New(slog.NewJSONHandler(&line, nil)).Info("a line", "id", x)
		if !strings.Contains(line.String(), `"id":"`+x.String()+`"`) {
			t.Errorf("%T is logged as %s", x, &line)
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	a, b := fleet.NewID(), fleet.NewID()
	if a == b || a == (fleet.ID{}) {
		t.Errorf("ids %s and %s", a, b)
	}
	if s := a.String(); s[14] != '7' {
		t.Errorf("%s is no UUIDv7", s)
	}
	if s := fleet.NewToken().String(); s[14] != '4' {
		t.Errorf("%s is no random UUID", s)
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("the credential is revoked: make a new one: %w", fleet.ErrForbidden), "the credential is revoked: make a new one"},
		{fleet.ErrNotFound, "not found"},
		{errors.New("forbidden fruit"), "forbidden fruit"},
	} {
		if got := fleet.Sentence(c.err); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func FuzzParseID(f *testing.F) {
	f.Add("01a1fb83-5177-7744-87ba-5cd967466414")
	f.Add("{01a1fb83-5177-7744-87ba-5cd967466414}")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := fleet.ParseID(s)
		if err != nil {
			return
		}
		again, err := fleet.ParseID(id.String())
		if err != nil || again != id || len(s) != 36 {
			t.Errorf("%q is read as %s, and that as %s, %v", s, id, again, err)
		}
	})
}

// TestIDsAreCanonical: other forms of a UUID name nothing, as two texts of one name would.
func TestIDsAreCanonical(t *testing.T) {
	t.Parallel()
	id := fleet.NewID()
	s := id.String()
	if got, err := fleet.ParseID(s); err != nil || got != id {
		t.Errorf("%s is read as %s: %v", s, got, err)
	}
	for _, other := range []string{"", "x", strings.ReplaceAll(s, "-", ""), "{" + s + "}", "urn:uuid:" + s, s[:35] + "g", strings.Repeat("-", 36)} {
		if got, err := fleet.ParseID(other); !errors.Is(err, fleet.ErrInvalid) || got != (fleet.ID{}) {
			t.Errorf("%q is read as %s: %v", other, got, err)
		}
	}
}
