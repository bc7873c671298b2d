package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// changes is what CHANGELOG.md says of the version. A version before the release has what is not released yet.
func (t *tree) changes() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(t.Root, "CHANGELOG.md"))
	if err != nil {
		return nil, err
	}
	if found := section(string(text), t.Version); found != "" {
		return []byte(found), nil
	}
	if strings.Contains(t.Version, "-") {
		if found := section(string(text), "Unreleased"); found != "" {
			return []byte(found), nil
		}
	}
	return nil, fmt.Errorf(`CHANGELOG.md has no section "## %s", or nothing in it: rename "## Unreleased", and commit that first`, t.Version)
}

// section is what stands below a heading of the second level, whose first word is title; "" where there is nothing.
func section(text, title string) string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			words := strings.Fields(heading)
			in = len(words) > 0 && words[0] == title
			continue
		}
		if in {
			b.WriteString(line)
		}
	}
	if found := strings.TrimSpace(b.String()); found != "" {
		return found + "\n"
	}
	return ""
}
