package findings

import (
	"fmt"
	"time"

	"fairlead/internal/fleet"
)

// TokenSoon is how long before its end an API token is spoken of, and after it: whether anybody still uses it is not known.
const TokenSoon = CredentialSoon

// Token is an API token that is bound to the fleet.
type Token struct {
	ID, Name  string
	ExpiresAt time.Time
}

// tokens finds those that end soon, and those that have ended: whoever writes the fleet with one, such as a pipeline, is refused from then on.
func (c *checker) tokens() {
	for _, x := range c.Tokens {
		f := Finding{Code: TokenExpires, Severity: Warning, Ref: fleet.Ref{Type: fleet.Cluster, Name: BootstrapCluster}}
		day := x.ExpiresAt.UTC().Format(time.DateOnly)
		switch left := x.ExpiresAt.Sub(c.Now); {
		case left > TokenSoon || left < -TokenSoon:
			continue
		case left > 0:
			f.Detail = fmt.Sprintf("the API token %q (%s) of this fleet expires on %s, in %s: create its next one before (fairlead token create), and give that to whoever uses it", x.Name, x.ID, day, daysText(left))
		default:
			f.Detail = fmt.Sprintf("the API token %q (%s) of this fleet expired on %s: whoever uses it is refused; create a new one (fairlead token create), or revoke it if nobody does", x.Name, x.ID, day)
		}
		c.found = append(c.found, f)
	}
}
