package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	client "fairlead/clients/go"
	"fairlead/internal/fleet"
	"fairlead/internal/redact"
)

// exportCommand is "fairlead export".
type exportCommand struct {
	Connection connection `embed:""`

	Dir     string `arg:"" optional:"" placeholder:"DIR" help:"The folder to write: a folder for each type, a file for each resource. Without it, all is printed as one text."`
	Replace bool   `help:"Write into a folder that holds something: what is there of the fleet is replaced, and files of resources that are no more are removed."`
	JSON    bool   `name:"json" help:"Print JSON that apply takes."`
}

// Help is printed with the command's own help.
func (*exportCommand) Help() string {
	return `"fairlead apply -R -f DIR", or "fairlead export | fairlead apply -f -", takes back what was exported, and finds no difference.

A secret is never shown: it stands there as "keep: true", which is the secret that the fleet has stored.`
}

// Run writes the fleet.
func (c *exportCommand) Run(ctx context.Context, sh *shell) error {
	if c.Dir != "" && c.JSON {
		return usageError("--json prints: leave the folder out")
	}
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	if c.Dir != "" && !c.Replace {
		if err := mustBeEmpty(c.Dir); err != nil {
			return err
		}
	}
	items, revision, err := s.snapshot(ctx)
	if err != nil {
		return err
	}
	docs, err := exported(items)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return s.printApply(docs)
	case c.Dir == "":
		return printDocuments(sh, docs)
	}
	removed, err := writeFolder(c.Dir, docs)
	if err != nil {
		return err
	}
	fmt.Fprintf(sh.out, "%s of revision %d written to %s%s\n", amount(len(docs), "resource"), revision, plain(c.Dir), removedWords(removed))
	return nil
}

func removedWords(n int) string {
	if n == 0 {
		return ""
	}
	return "; " + amount(n, "file") + " removed"
}

// looks is how often a fleet that others write meanwhile is read anew.
const looks = 5

// snapshot reads all resources as they are at one revision.
func (s *session) snapshot(ctx context.Context) ([]json.RawMessage, int64, error) {
	for range looks {
		before, err := s.revision(ctx)
		if err != nil {
			return nil, 0, err
		}
		items, err := pages(0, func(limit int, cursor *string) (page, error) {
			resp, err := s.api.ListResources(ctx, s.tenant, s.fleet, &client.ListResourcesParams{Limit: &limit, Cursor: cursor})
			p, _, err := answer[page](s, resp, err)
			return p, err
		})
		if err != nil {
			return nil, 0, err
		}
		after, err := s.revision(ctx)
		if err != nil || after == before {
			return items, after, err
		}
	}
	return nil, 0, errors.New("the fleet was written each time while it was read: repeat the command")
}

// revision is the fleet's newest, 0 before the first.
func (s *session) revision(ctx context.Context) (int64, error) {
	resp, err := s.api.GetFleet(ctx, s.tenant, s.fleet)
	f, _, err := answer[client.Fleet](s, resp, err)
	return f.Revision, err
}

// exportedDocument is one resource in the form that apply takes.
type exportedDocument struct {
	kind, name, variant string
	yaml, json          []byte
}

// exported leaves out what the API tells beside the content, and what it does not show.
func exported(items []json.RawMessage) (out []exportedDocument, err error) {
	for _, item := range items {
		var head struct{ Type, Name, Variant string }
		if err := json.Unmarshal(item, &head); err != nil {
			return nil, err
		}
		d := exportedDocument{kind: head.Type, name: head.Name, variant: head.Variant}
		if _, known := fleet.TypeFromSlug(d.kind); !known {
			return nil, fmt.Errorf("the API has resources of the type %q, which this fairlead does not know: take a newer one", d.kind)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(item, &fields); err != nil {
			return nil, err
		}
		if bytes.Contains(item, []byte(redact.Mark)) || fields["body"] == nil {
			delete(fields, "body")
			fields["keep"] = json.RawMessage("true")
		}
		d.json = contentJSON(fields)
		if d.yaml, err = documentYAML(d.json, contentFields); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// contentJSON writes what a tenant can write of a resource, in the order of print.
func contentJSON(fields map[string]json.RawMessage) []byte {
	var b bytes.Buffer
	for _, key := range contentFields {
		if fields[key] == nil {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", key, fields[key])
	}
	return append(append([]byte{'{'}, b.Bytes()...), '}')
}

// printDocuments prints them as one text, which apply takes.
func printDocuments(sh *shell, docs []exportedDocument) error {
	for i, d := range docs {
		if i > 0 {
			fmt.Fprintln(sh.out, "---")
		}
		if _, err := sh.out.Write(d.yaml); err != nil {
			return err
		}
	}
	return nil
}

// printApply prints an apply of the documents.
func (s *session) printApply(docs []exportedDocument) error {
	list := make([]json.RawMessage, len(docs))
	for i, d := range docs {
		list[i] = d.json
	}
	raw, err := json.Marshal(struct {
		Resources []json.RawMessage `json:"resources"`
	}{list})
	if err != nil {
		return err
	}
	return s.printJSON(raw)
}

// mustBeEmpty takes a folder that is not there, or holds nothing.
func mustBeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return usageError("the folder " + dir + " is not empty: with --replace what it holds of the fleet is replaced")
	}
	return nil
}

// writeFolder writes each document to its file, and removes from the types' folders the
// files of others, which it counts.
func writeFolder(dir string, docs []exportedDocument) (removed int, err error) {
	written, taken := map[string]bool{}, map[string]bool{} // taken has no capitals, which some file systems do not tell apart
	for _, d := range docs {
		name := filepath.Join(d.kind, fileName(d.name, d.variant))
		for i := 0; taken[strings.ToLower(name)]; i++ { // another resource is called as this one's file is
			sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", d.name, d.variant, i))
			name = filepath.Join(d.kind, hex.EncodeToString(sum[:])+".yaml")
		}
		written[name], taken[strings.ToLower(name)] = true, true
		if err := os.MkdirAll(filepath.Join(dir, d.kind), 0o755); err != nil { //nolint:gosec // no secret is in it
			return 0, err
		}
		mode := fs.FileMode(0o644)
		if d.kind == fleet.Secret.Slug() { // of an import it holds the secret itself
			mode = 0o600
		}
		if err := os.WriteFile(filepath.Join(dir, name), d.yaml, mode); err != nil {
			return 0, err
		}
	}
	for _, t := range fleet.Types() {
		entries, err := os.ReadDir(filepath.Join(dir, t.Slug()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		for _, e := range entries {
			name := filepath.Join(t.Slug(), e.Name())
			if filepath.Ext(name) != ".yaml" || e.IsDir() || written[name] {
				continue
			}
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return removed, err
			}
			removed++
		}
	}
	return removed, nil
}

// maxFileName leaves room below the 255 bytes that file systems take.
const maxFileName = 120

// fileName is a name that every file system takes and no shell trips over. Where it is not
// the resource's name itself, or differs from another in capitals alone, which some file
// systems do not tell apart, a hash keeps names apart.
func fileName(name, variant string) string {
	full := name
	if variant != "" {
		full += "@" + variant
	}
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.@", r) {
			return r
		}
		return '_'
	}, full)
	if safe[0] == '.' || safe[0] == '-' {
		safe = "_" + safe[1:]
	}
	safe = safe[:min(len(safe), maxFileName)]
	if safe != full || safe != strings.ToLower(safe) || variant == "" && strings.Contains(name, "@") {
		sum := sha256.Sum256([]byte(name + "\x00" + variant))
		safe += "-" + hex.EncodeToString(sum[:4])
	}
	return safe + ".yaml"
}
