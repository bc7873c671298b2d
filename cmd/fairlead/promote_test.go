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
		return w.bare("", append([]string{"promote", "--from", "edge", "--to", "prod", "--server", w.url, "--token", w.token, "--tenant", "acme"}, args...)...)
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
	promote("--fleet", "edge").want(t, exitUsage, "", "fairlead: promote takes the fleets by --from and --to: leave --fleet out\n")
	promote("--dry-run", "--wait").want(t, exitUsage, "", "fairlead: a dry run writes nothing: --wait and --idempotency-key are about a write\n")
}
