package findings

// unserved finds what makes proxies ask for a type of resource that is not served. Such content is refused when it is written; what has it is older than
// that rule.
func (c *checker) unserved() {
	for _, n := range c.order {
		for _, v := range n.variants {
			for _, u := range v.facts.Unserved {
				c.add(v, Finding{Code: UnservedType, Severity: Error, Pointer: u.Pointer, Detail: v.named() + ": " + u.Detail})
			}
		}
	}
}
