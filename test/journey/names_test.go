package journey

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// names are the ports and the like that the page says, and those of this run.
type names map[string]string

var number = regexp.MustCompile(`\b[0-9]{4,5}\b`)

// here is a text of the page as it is in this run.
func (n names) here(text string) string {
	for _, name := range slices.Sorted(maps.Keys(n)) {
		if !number.MatchString(name) {
			text = strings.ReplaceAll(text, name, n[name])
		}
	}
	return number.ReplaceAllStringFunc(text, func(s string) string {
		if here, known := n[s]; known {
			return here
		}
		return s
	})
}

// always are what differs from run to run, and how the page has it.
var always = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`), "2026-01-02 03:04:05Z"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "2026-01-02T03:04:05Z"},
	{regexp.MustCompile(`\bin \d+ ms\b`), "in 18 ms"},
	{regexp.MustCompile(`\bplan-[A-Za-z0-9_-]{20,}`), "plan-AQAAAAAAAAAB2vpbVzNpTsOBR8qPQ57hWYqaALPQCNIytRdNXyXXuVk"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "01a2083e-6602-7756-83f3-5db179f9e912"},
	{regexp.MustCompile(`\bversion: [A-Za-z0-9_-]{20}$`), "version: SLBudQUxSZlmjfzHn3ey"},
	{regexp.MustCompile(`\b127\.0\.0\.1:(3[2-9]|[4-6]\d)\d{3}\b`), "127.0.0.1:50000"}, // one of the system's choice
}

// there is a text of this run as the page would have it.
func (n names) there(text string) string {
	back := map[string]string{}
	for there, here := range n {
		back[here] = there
	}
	text = number.ReplaceAllStringFunc(text, func(s string) string {
		if there, known := back[s]; known {
			return there
		}
		return s
	})
	for _, a := range always {
		text = a.pattern.ReplaceAllString(text, a.text)
	}
	return text
}
