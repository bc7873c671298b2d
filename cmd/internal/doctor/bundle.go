package doctor

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"fairlead/internal/auth"
)

// BundleConfig is what a support bundle is made of.
type BundleConfig struct {
	Config
	Versions any      // of the program that makes it
	Metrics  []string // URLs of /metrics of servers
}

// Bundled says what a bundle has, and what not.
type Bundled struct {
	Files   []string `json:"files"`
	LeftOut []Left   `json:"left_out"`
}

// Left is a file that could not be made.
type Left struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// bundle is one in the making.
type bundle struct {
	x   *examination
	tar *tar.Writer
	Bundled
	values bool // of the fleet are known, and are told nowhere
}

const (
	bundledNodes = 50 // of which there is a page each: those that are in trouble first
	longValue    = 8  // of a fleet: a shorter one stands in many words by chance
	maxMetrics   = 16 << 20
)

// Bundle writes a .tar.gz of what somebody who helps asks for: what doctor saw, versions, the fleet's state, nodes, findings, receipts, events, metrics. It
// has no body of any resource, and nothing that is known to be secret.
func Bundle(ctx context.Context, to io.Writer, c BundleConfig) (Bundled, error) {
	x := &examination{Config: c.Config, results: map[string]Result{}}
	defer x.close()
	zip := gzip.NewWriter(to)
	b := &bundle{x: x, tar: tar.NewWriter(zip), Bundled: Bundled{Files: []string{}, LeftOut: []Left{}}}
	report := x.run(ctx)
	if x.API != nil {
		x.api.tenant, x.api.fleet = x.API.Tenant, x.API.Fleet
	}
	err := b.put("versions.json", c.Versions)
	if err == nil && x.API != nil {
		err = b.ofAPI(ctx)
	}
	if err == nil { // it may quote what ofAPI has learnt not to tell
		if !b.values {
			report = unquoted(report)
		}
		err = b.put("doctor.json", report)
	}
	for i, u := range c.Metrics {
		if err == nil {
			err = b.metrics(ctx, fmt.Sprintf("metrics-%d.txt", i+1), u)
		}
	}
	if err == nil {
		err = b.put("manifest.json", b.Bundled)
	}
	return b.Bundled, errors.Join(err, b.tar.Close(), zip.Close(), ctx.Err())
}

// quoting are the checks that quote what Envoy said, or findings: a fleet's values may stand there.
var quoting = []string{"node.stream", "api.refusals", "api.findings"}

func unquoted(r Report) Report {
	r.Checks = slices.Clone(r.Checks)
	for i, c := range r.Checks {
		if slices.Contains(quoting, c.Check) && c.State != NotChecked {
			r.Checks[i].Saw = removed
		}
	}
	return r
}

// document is what the API answers, as it is.
type document = map[string]any

func (b *bundle) ofAPI(ctx context.Context) error {
	err := b.document(ctx, "whoami.json", "/v1/whoami")
	if err == nil {
		err = b.document(ctx, "servers.json", "/v1/operator/servers")
	}
	if err != nil || b.x.api.tenant == "" || b.x.api.fleet == "" {
		return err
	}
	return b.ofFleet(ctx)
}

func (b *bundle) ofFleet(ctx context.Context) error {
	fleet, fault := read[document](ctx, b.x, b.x.below(""))
	if fault != nil { // its values may stand in all that is told of it
		return b.putOr("fleet.json", fleet, fault)
	}
	b.values = true
	values, _ := fleet["values"].(map[string]any)
	for _, v := range values {
		if text, is := v.(string); is && len(text) >= longValue {
			b.x.hide(text) // what was written with it may be quoted
		}
	}
	if err := b.put("fleet.json", fleet); err != nil {
		return err
	}
	for _, one := range []struct{ file, path string }{{"usage.json", "/usage"}, {"revisions.json", "/revisions"}, {"events.json", "/events"}, {"credentials.json", "/credentials"}} {
		if err := b.document(ctx, one.file, b.x.below(one.path)); err != nil {
			return err
		}
	}
	if newest, is := fleet["revision"].(float64); is && newest > 0 {
		if err := b.document(ctx, "receipt.json", b.x.below(fmt.Sprintf("/revisions/%d/receipt", int64(newest)))); err != nil {
			return err
		}
	}
	findings, _, fault := list[document](ctx, b.x, b.x.below("/findings"), somePages)
	if err := b.putOr("findings.json", findings, fault); err != nil {
		return err
	}
	nodes, _, fault := list[document](ctx, b.x, b.x.below("/nodes"), somePages)
	if err := b.putOr("nodes.json", nodes, fault); err != nil {
		return err
	}
	slices.SortStableFunc(nodes, func(m, n document) int { return calm(m) - calm(n) })
	for i, n := range nodes[:min(len(nodes), bundledNodes)] {
		id, _ := n["id"].(string)
		if err := b.document(ctx, fmt.Sprintf("nodes/%d.json", i+1), b.x.below("/nodes/"+url.PathEscape(id))); err != nil {
			return err
		}
	}
	return nil
}

// calm is 1 of a node of which there is nothing to tell.
func calm(n document) int {
	if n["state"] == "connected" {
		return 1
	}
	return 0
}

func (b *bundle) document(ctx context.Context, file, path string) error {
	d, err := read[document](ctx, b.x, path)
	return b.putOr(file, d, err)
}

func (b *bundle) metrics(ctx context.Context, file, at string) error {
	text, err := plainText(ctx, at)
	if err != nil {
		b.LeftOut = append(b.LeftOut, Left{file, b.x.scrub(err.Error())})
		return nil
	}
	return b.write(file, []byte(b.x.scrub(string(text))))
}

func plainText(ctx context.Context, at string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
	if err != nil || r.URL.User != nil {
		return nil, errors.New("--metrics is no URL, or has a password in it")
	}
	resp, err := (&http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return nil, errors.New(inner(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New("the answer is " + resp.Status)
	}
	return io.ReadAll(io.LimitReader(resp.Body, maxMetrics))
}

// putOr writes a document, or notes why there is none.
func (b *bundle) putOr(file string, v any, err error) error {
	if err != nil {
		b.LeftOut = append(b.LeftOut, Left{file, b.x.scrub(err.Error())})
		return nil
	}
	return b.put(file, v)
}

func (b *bundle) put(file string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	var all any
	if err := json.Unmarshal(raw, &all); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if raw, err = json.MarshalIndent(b.x.scrubbed("", all), "", "  "); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return b.write(file, append(raw, '\n'))
}

func (b *bundle) write(file string, text []byte) error {
	if err := b.tar.WriteHeader(&tar.Header{Name: "fairlead-support/" + file, Mode: 0o600, Size: int64(len(text)), ModTime: b.x.Now()}); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if _, err := b.tar.Write(text); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	b.Files = append(b.Files, file)
	return nil
}

const removed = "[removed]"

var (
	// Of these fields people write the texts, which may be anything: the values of a fleet, the metadata of nodes, notes.
	written = []string{"values", "metadata", "description", "message"}
	// secretName is of fields that hold a secret by their name.
	secretName = regexp.MustCompile(`(?i)(password|passwd|secret|private_?key|api_?key|authorization|^token$)`)
	// secretText is what is known to be secret wherever it stands: Fairlead's tokens, private keys, and passwords in URLs.
	secretText = regexp.MustCompile(`(?s)` + auth.ScannerPattern + `|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)|[a-z][a-z0-9+.-]*://[^\s/@"]*:[^\s/@"]*@|(?i:bearer) [A-Za-z0-9._~+/=-]{16,}`)
)

// scrub takes out of a text what is known to be secret.
func (x *examination) scrub(text string) string {
	for _, s := range x.secrets {
		text = strings.ReplaceAll(text, s, removed)
	}
	return secretText.ReplaceAllString(text, removed)
}

// scrubbed takes it out of a document. of is the field in which it stands.
func (x *examination) scrubbed(of string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, one := range v {
			if one = x.scrubbed(name, one); slices.Contains(written, name) {
				one = emptied(one)
			}
			out[x.scrub(name)] = one
		}
		if v["code"] == "value_changed" { // it quotes both values
			out["detail"] = removed
		}
		return out
	case []any:
		for i, one := range v {
			v[i] = x.scrubbed(of, one)
		}
		return v
	case string:
		if v != "" && secretName.MatchString(of) {
			return removed
		}
		return x.scrub(v)
	}
	return v
}

// emptied keeps the names in a value, and none of its texts.
func emptied(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			v[name] = emptied(one)
		}
		return v
	case []any:
		for i, one := range v {
			v[i] = emptied(one)
		}
		return v
	case string:
		if v != "" {
			return removed
		}
	}
	return v
}
