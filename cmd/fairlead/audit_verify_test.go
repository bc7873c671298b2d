package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/internal/audit"
)

// The chain of the golden answers, as its API made it: two events.
const chainOfTwo = `{"tenant_id": "0198c0b1-0000-7000-8000-000000000001", "unchained": 0, "unlinked": 0, "head": {"seq": 2, "hash": "%[2]s"}, "items": [
 {"seq": 1, "hash": "%[1]s", "event": {"id": "e1", "at": "2026-01-02T12:00:00.123456Z", "actor": "ada", "address": "::1", "request_id": "r1", "kind": "tenant.create", "object": "tenant acme"}},
 {"seq": 2, "hash": "%[2]s", "event": {"id": "e2", "at": "2026-01-02T12:00:01Z", "actor": "ada", "address": "::1", "request_id": "r2", "kind": "tenant.limits", "object": "tenant acme", "detail": "{\"tokens\": 60}"}}]}`

const (
	hash1 = "ad49d6ca310d2bd5c55054b1a2e448c5fe0d660c6a0e7c81c502360cdd70cca4"
	hash2 = "473d668109bc0c3bf8824de275c111372367b93ebffc07057a0aa9bf81bf9d63"
)

func TestT48_AuditVerify(t *testing.T) {
	t.Parallel()
	const chain, check = "GET /v1/tenants/acme/audit/chain", "GET /v1/tenants/acme/audit/verify"
	sound := fmt.Sprintf(chainOfTwo, hash1, hash2)
	intact := ok(`{"state": "intact", "unchained": 0, "deliveries": []}`)
	dir := t.TempDir()
	file := func(name string, lines ...string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	head := func(seq int64, hash string) string {
		h := audit.Head{Tenant: "0198c0b1-0000-7000-8000-000000000001", Seq: seq, Signature: audit.Hash{1}}
		if err := h.Hash.UnmarshalText([]byte(hash)); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	logged := file("log", `{"time": "x", "level": "INFO", "msg": "request"}`, "no JSON", strings.Replace(head(1, hash1), "{", `{"msg": "audit head", `, 1))
	var text bytes.Buffer // as --log-format text has it, and the log of "fairlead dev"
	slog.New(slog.NewTextHandler(&text, nil)).Info("audit head", "tenant", "acme", "tenant_id", "0198c0b1-0000-7000-8000-000000000001", "seq", 1, "hash", hash1,
		"at", "2026-01-02T12:00:01Z", "anchor_seq", 0, "unchained", 0, "signature", hash2)
	for name, c := range map[string]struct {
		chain string
		check reply
		args  []string
		code  int
		says  string
	}{
		"sound":                     {sound, intact, nil, exitOK, "events 1 to 2\nwithout --heads"},
		"with logs":                 {sound, intact, []string{"--heads", logged}, exitOK, "agrees with 1 heads"},
		"with what a collector got": {sound, intact, []string{"--heads", file("hook", `{"tenant": "acme", "events": [], "heads": [`+head(1, hash1)+`,`+head(2, hash2)+`]}`)}, exitOK, "agrees with 2 heads"},
		"with syslog":               {sound, intact, []string{"--heads", file("syslog", `{"tenant": "acme", "head": `+head(2, hash2)+`}`)}, exitOK, "agrees with 1 heads"},
		"with logs as text":         {sound, intact, []string{"--heads", file("text", `time=x level=INFO msg="audit head"`, `time=x level=INFO msg="request" path="{"`, text.String())}, exitOK, "agrees with 1 heads"},
		"with what syslog wrote":    {sound, intact, []string{"--heads", file("rsyslog", "Jan  2 12:00:01 vm fairlead "+`{"tenant": "acme", "head": `+head(2, hash2)+`}`)}, exitOK, "agrees with 1 heads"},
		"with syslog's stream":      {sound, intact, []string{"--heads", file("stream", `99 <109>1 - vm fairlead - audit.head - {"head": `+head(1, hash1)+`}99 <109>1 - vm fairlead - audit.head - {"head": `+head(2, hash2)+`}`)}, exitOK, "agrees with 2 heads"},
		"later text, cut off":       {sound, intact, []string{"--heads", file("cut", strings.Replace(text.String(), "seq=1 ", "seq=3 ", 1))}, exitFailed, "truncated at event 3"},
		"no heads":                  {sound, intact, []string{"--heads", file("none", "{}")}, exitFailed, "has no head of this tenant, 0198c0b1-0000-7000-8000-000000000001: give the lines of the API servers' logs that say \"audit head\", or what a collector was sent; heads are signed once an hour, the first within minutes of a tenant's first event"},
		"changed":                   {strings.Replace(sound, `"actor": "ada"`, `"actor": "eve"`, 1), intact, nil, exitFailed, "event_changed at event 1"},
		"cut off":                   {sound, intact, []string{"--heads", file("later", head(3, hash1))}, exitFailed, "truncated at event 3"},
		"written anew":              {sound, intact, []string{"--heads", file("other", head(1, hash2))}, exitFailed, "rewritten at event 1"},
		"inserted":                  {strings.Replace(sound, `"unlinked": 0`, `"unlinked": 2`, 1), intact, nil, exitFailed, "event_inserted: 2 events are in no chain"},
		"the servers":               {sound, ok(`{"state": "broken", "unchained": 0, "deliveries": [], "checked_at": "2026-01-03T00:00:00Z", "fault": {"what": "signature", "seq": 1, "detail": "x"}}`), nil, exitFailed, "the API servers have found on 2026-01-03 00:00:00Z: signature at event 1"},
		"with a filter":             {sound, intact, []string{"--kind", "x"}, exitUsage, "--heads alone"},
	} {
		w := setup(t)
		w.replies[chain], w.replies[check] = []reply{ok(c.chain)}, []reply{c.check}
		if r := w.run(append([]string{"audit", "--verify"}, c.args...)...); r.code != c.code || !strings.Contains(r.out+r.err, c.says) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	w := setup(t)
	if r := w.run("audit", "--heads", logged); r.code != exitUsage {
		t.Errorf("%+v", r)
	}
}
