package findings

import (
	"fmt"
	"slices"
	"strings"
)

// sealed finds secrets that no xDS server can open: nodes keep the version that they have, or go without.
func (c *checker) sealed() {
	keys := c.ServerKeys
	if len(keys) == 0 && c.OwnKey != "" {
		keys = []string{c.OwnKey} // as far as is known
	}
	if len(keys) == 0 {
		return
	}
	for _, n := range c.order {
		for _, v := range n.variants {
			if v.SealedFor == "" || slices.Contains(keys, v.SealedFor) {
				continue
			}
			remedy := "write it again"
			if v.SealedFor == c.OwnKey {
				remedy = "give the API servers the public key of that pair, then write it again"
			}
			c.add(v, Finding{Code: SealedForAnother, Severity: Error, Detail: fmt.Sprintf(
				"%s is sealed with the key %s, and the xDS servers have %s: nodes keep what they have of it, or go without; %s", v.named(), v.SealedFor, strings.Join(keys, " and "), remedy)})
		}
	}
}
