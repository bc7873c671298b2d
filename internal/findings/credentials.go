package findings

import (
	"fmt"
	"time"

	"fairlead/internal/fleet"
)

// CredentialSoon is how long before its end a node credential is spoken of.
const CredentialSoon = 14 * 24 * time.Hour

// Credential is a node credential with which nodes have come.
type Credential struct {
	ID        string
	ExpiresAt time.Time
	Nodes     int      // that are connected with it or, when it has ended, were until then
	Named     []string // some of them
}

// credentials finds those that end soon, and those whose end has cut nodes off.
func (c *checker) credentials() {
	for _, x := range c.Credentials {
		who := whoOf(x.Named, x.Nodes)
		f := Finding{Code: CredentialExpires, Severity: Warning, Nodes: x.Nodes, Ref: fleet.Ref{Type: fleet.Cluster, Name: BootstrapCluster}}
		day := x.ExpiresAt.UTC().Format(time.DateOnly)
		switch left := x.ExpiresAt.Sub(c.Now); {
		case left > CredentialSoon:
			continue
		case left > 0:
			f.Detail = fmt.Sprintf("the node credential %s of %s expires on %s, in %s: from then on they are sent nothing and let in no more; renew it before (fairlead credential renew %s), and give them the new token", x.ID, who, day, daysText(left), x.ID)
		default:
			f.Severity = Error
			f.Detail = fmt.Sprintf("the node credential %s of %s expired on %s: since then they are sent nothing and let in no more; create a new one, and give them its token", x.ID, who, day)
		}
		c.found = append(c.found, f)
	}
}
