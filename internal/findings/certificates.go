package findings

import (
	"fmt"
	"time"

	"fairlead/internal/resource"
)

// soon is how long before its end a certificate is spoken of.
const soon = 30 * 24 * time.Hour

// certificates finds those that have expired, expire soon, or are not their key's.
func (c *checker) certificates() {
	for _, n := range c.order {
		if !c.on() {
			return
		}
		for _, v := range n.variants {
			for i := range v.facts.Certificates {
				c.certificate(v, &v.facts.Certificates[i])
			}
		}
	}
}

func (c *checker) certificate(v *variant, cert *resource.Certificate) {
	if cert.OtherKey {
		c.add(v, Finding{Code: KeyMismatch, Severity: Error, Pointer: cert.Pointer, Detail: fmt.Sprintf(
			"the private key in %s is not the one of its certificate%s: proxies refuse it; write the two that belong together", v.named(), of(cert.Subject))})
	}
	what, severity, effect := "the certificate", Error, "clients refuse it"
	switch {
	case cert.Authority: // another one of the bundle may be the one that counts
		what, severity, effect = "a certificate authority", Warning, "peers whose certificates it signed are refused"
	case cert.Intermediate: // clients may know another path to an authority
		what, severity, effect = "the intermediate certificate", Warning, "clients that know no other path refuse the chain"
	}
	day := cert.NotAfter.UTC().Format(time.DateOnly)
	switch left := cert.NotAfter.Sub(c.Now); {
	case left <= 0:
		c.add(v, Finding{Code: CertificateExpired, Severity: severity, Pointer: cert.Pointer, Detail: fmt.Sprintf(
			"%s%s in %s expired on %s: %s; write a new one", what, of(cert.Subject), v.named(), day, effect)})
	case left <= soon:
		c.add(v, Finding{Code: CertificateExpires, Severity: Warning, Pointer: cert.Pointer, Detail: fmt.Sprintf(
			"%s%s in %s expires on %s, in %s: write a new one before", what, of(cert.Subject), v.named(), day, daysText(left))})
	}
}

func of(subject string) string {
	if subject == "" {
		return ""
	}
	return " of " + subject
}

// daysText counts whole days.
func daysText(d time.Duration) string {
	switch n := int(d / (24 * time.Hour)); n {
	case 0:
		return "less than a day"
	case 1:
		return "1 day"
	default:
		return fmt.Sprintf("%d days", n)
	}
}
