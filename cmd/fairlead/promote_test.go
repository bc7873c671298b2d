package main

import (
	"strings"
	"testing"
)

func TestPromote(t *testing.T) {
	t.Parallel()
	w := live(t)
	secret := "---\ntype: secrets\nname: s\nlabels: {team: shop}\nbody: {name: s, generic_secret: {secret: {inline_string: %}}}\n"
	w.on("edge", shop("a")+"---\n"+shop("b")+strings.Replace(secret, "%", "staging", 1), "apply", "-f", "-").is(t, exitOK)
	promote := func(args ...string) result {
		t.Helper()
		return w.bare("", append([]string{"promote", "--from", "edge", "--to", "prod", "--server", w.url, "--token-file", w.tokenFile(), "--tenant", "acme"}, args...)...)
	}
	// a secret that prod does not have is named
	if r := promote(); r.code != exitFailed || !strings.Contains(r.err, "edge, secrets/s: /keep: keep stands for a resource that is stored, and this fleet has no secrets/s: write it once with its body") {
		t.Fatalf("%+v", r)
	}
	w.on("prod", shop("old")+"---\n"+otherTeam+strings.Replace(secret, "%", "production", 1), "apply", "-f", "-").is(t, exitOK)
	dry := promote("--dry-run", "--prune", "-l", "team=shop")
	lines := strings.Split(strings.TrimSpace(dry.is(t, exitOK)), "\n")
	if dry.err != "prune: clusters/old\n" || lines[len(lines)-3] != "2 to create, 1 to delete, 1 unchanged, on revision 1" {
		t.Fatalf("%+v", dry)
	}
	promote("--plan", lines[len(lines)-1], "--prune", "-l", "team=shop").want(t, exitOK, "revision 2: 3 resources changed\n", "prune: clusters/old\n")
	if r := w.on("prod", "", "history", "-n", "1"); !strings.Contains(r.out, "promoted from edge, revision 1") {
		t.Error(r.out)
	}
	// at once, it shows what it does
	w.on("edge", shop("c"), "apply", "-f", "-").is(t, exitOK)
	if out := promote().is(t, exitOK); !strings.Contains(out, "+++ clusters/c (planned)\n") || !strings.HasSuffix(out, "revision 3: 1 resource changed\n") {
		t.Error(out)
	}
	if out := promote().is(t, exitOK); out != "4 unchanged, on revision 3\nnothing changed; revision 3 is current\n" {
		t.Error(out)
	}
	// of the two the one that is not there is named
	for _, fleets := range [][]string{{"edge", "nope"}, {"nope", "edge"}} {
		r := w.bare("", "promote", "--from", fleets[0], "--to", fleets[1], "--server", w.url, "--token-file", w.tokenFile(), "--tenant", "acme")
		if r.code != exitFailed || !strings.Contains(r.err, `fleet "nope": this token sees no fleet of the name in the path`) {
			t.Errorf("%q: %+v", fleets, r)
		}
	}
	if r := w.bare("", "nodes", "--fleet", "edge", "--server", w.url, "--token-file", w.tokenFile(), "--tenant", "nobody"); r.code != exitFailed || !strings.Contains(r.err, `tenant "nobody": this token sees no tenant`) {
		t.Errorf("%+v", r)
	}
	promote("--fleet", "edge").want(t, exitUsage, "", "fairlead: promote takes the fleets by --from and --to: leave --fleet out\n")
	promote("--dry-run", "--wait").want(t, exitUsage, "", "fairlead: a dry run writes nothing: --wait and --idempotency-key are about a write\n")
}

func TestPromoteWithValues(t *testing.T) {
	t.Parallel()
	w := live(t)
	promote := func() result {
		return w.bare("", "promote", "--from", "edge", "--to", "prod", "--server", w.url, "--token-file", w.tokenFile(), "--tenant", "acme")
	}
	const file = `{type: clusters, name: c, body: {name: c, type: STATIC, connect_timeout: "${fleet.values.WAIT}", alt_stat_name: "${fleet.values.WHERE}"}}`
	w.on("edge", file, "validate", "-f", "-", "--value", "WAIT=1s").is(t, exitUsage) // it takes no fleet
	if r := w.bare(file, "validate", "-f", "-", "--value", "WAIT=1s"); r.code != exitFailed || !strings.Contains(r.err, "/body/alt_stat_name: the fleet that this is written to has no value WHERE") || !strings.Contains(r.err, "; for this check, give it by --value\n") {
		t.Errorf("%+v", r)
	}
	// what no fleet can have does not make it green
	w.bare(file, "validate", "-f", "-", "--value", "WAIT=1s", "--value", "WHERE=").is(t, exitFailed)
	w.bare(file, "validate", "-f", "-", "--value", "a-b=1").want(t, exitUsage, "", "fairlead: --value a-b=...: the name of a value is letters, digits and _, not a digit first, at most 64\n")
	w.bare(file, "validate", "-f", "-", "--value", "A="+strings.Repeat("x", 1025)).want(t, exitUsage, "", "fairlead: --value A=...: a value is at most 1024 bytes\n")
	w.bare(file, "validate", "-f", "-", "--value", "WAIT=1s", "--value", "WHERE=a;b").want(t, exitOK, "the API would take 1 document\n", "")
	r := w.on("edge", "", "fleet", "--value", "WAIT=1s", "--value", "WHERE=a=b,c;d")
	if out := r.is(t, exitOK); !strings.Contains(out, "value WHERE") || !strings.Contains(out, "a=b,c;d") || !strings.Contains(r.err, "until it is written again") {
		t.Errorf("%+v", r)
	}
	w.on("edge", file, "apply", "-f", "-").is(t, exitOK)
	w.on("prod", "", "fleet", "--value", "WAIT=9s").is(t, exitOK)
	if r := promote(); r.code != exitFailed || !strings.Contains(r.err, "edge, clusters/c: /body/alt_stat_name: the fleet that this is written to has no value WHERE") {
		t.Fatalf("%+v", r)
	}
	w.on("prod", "", "fleet", "--value", "WHERE=prod").is(t, exitOK)
	if out := promote().is(t, exitOK); !strings.Contains(out, "+  WAIT: \"9s\"\n+  WHERE: prod\n") {
		t.Error(out)
	}
	got := w.on("prod", "", "get", "clusters", "c", "-o", "yaml").is(t, exitOK)
	for _, want := range []string{"${fleet.values.WAIT}", "WHERE: prod"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	if out := w.on("prod", "", "describe", "clusters", "c").is(t, exitOK); !strings.Contains(out, "value WAIT   9s\nvalue WHERE  prod\n") {
		t.Error(out)
	}
	if out := w.on("prod", w.on("prod", "", "export").is(t, exitOK), "apply", "-f", "-").is(t, exitOK); !strings.Contains(out, "nothing changed") {
		t.Error(out)
	}
	// of the value that has changed it is told, and the way to write it again works
	w.on("prod", "", "fleet", "--value", "WAIT=10s").is(t, exitOK)
	if out := w.on("prod", "", "findings").out; !strings.Contains(out, "value_changed") {
		t.Error(out)
	}
	w.on("prod", w.on("prod", "", "export").is(t, exitOK), "apply", "-f", "-").is(t, exitOK)
	if out := w.on("prod", "", "findings").out; strings.Contains(out, "value_changed") {
		t.Error(out)
	}
}
