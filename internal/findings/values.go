package findings

import (
	"fmt"
	"maps"
	"slices"
)

// values finds what stands written with other values of the fleet than it has now.
func (c *checker) values() {
	for _, n := range c.order {
		if !c.on() {
			return
		}
		for _, v := range n.variants {
			for _, name := range slices.Sorted(maps.Keys(v.Values)) {
				now, there := c.Values[name]
				switch was := v.Values[name]; {
				case !there:
					c.add(v, Finding{Code: ValueChanged, Severity: Warning, Pointer: "/body", Detail: fmt.Sprintf(
						"the fleet has no value %s any more: %s has the one of when it was written, %.80q, and cannot be written again; set the value, or write the resource without it", name, v.named(), was)})
				case now != was:
					c.add(v, Finding{Code: ValueChanged, Severity: Warning, Pointer: "/body", Detail: fmt.Sprintf(
						"the fleet's value %s is %.80q now: %s has the one of when it was written, %.80q; write it again", name, now, v.named(), was)})
				}
			}
		}
	}
}
