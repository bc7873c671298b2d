package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead/internal/httpapi"
	"fairlead/internal/store"
)

// hasKey reports whether one of the xDS servers has the key, or whether it is not known which they have.
func hasKey(keys []store.ServerKey, id string) bool {
	return len(keys) == 0 || slices.ContainsFunc(keys, func(k store.ServerKey) bool { return k.ID == id })
}

// keysText names each key and a server that has it.
func keysText(keys []store.ServerKey) string {
	var out []string
	for _, k := range keys {
		out = append(out, fmt.Sprintf("%s (%s)", k.ID, k.Server))
	}
	return strings.Join(out, ", ")
}

// ForeignVersionKey says what is wrong where the last heads of audits are signed with another key. It may be that somebody who has the database has changed them: an API server starts all the same.
func ForeignVersionKey(h store.HeadsOfKey) string {
	others := "the last signed heads of the audit"
	if h.Signed > 0 {
		others = "some last signed heads of the audit, and not all,"
	}
	return others + " are signed with another key than --version-key: give all API servers the version.key of this installation, or each Secret that is applied counts as changed and no audit is signed"
}

// ready asks the database, and tells when no xDS server could open what the API seals.
func (c *apiCell) ready(ctx context.Context) error {
	keys, err := c.store.ServerKeys(ctx)
	if err != nil {
		return err
	}
	if !hasKey(keys, c.sealKey) {
		var ids []string
		for _, k := range keys {
			ids = append(ids, k.ID)
		}
		why := httpapi.NotReady(fmt.Sprintf("secrets are sealed here with the key %s, and no xDS server can open them: they have %s; give the servers keys of one pair", c.sealKey, strings.Join(ids, ", ")))
		return fmt.Errorf("%w: %s", why, keysText(keys)) // the names of servers, which are those of their hosts, are for the log
	}
	if at := c.store.FullAt(); !at.IsZero() {
		return httpapi.NotReady("the database has no room on its disk: a write failed for that at " + at.UTC().Format("15:04:05Z"))
	}
	return nil
}
