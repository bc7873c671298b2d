package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	client "fairlead/clients/go"
	"fairlead/test/world"
)

// job is what of a job is run: its scripts, one after the other, each with its own variables.
type job struct {
	when  string // in the words of the CI
	steps []step
}

type step struct {
	Run string
	Env map[string]string
}

// ciPage is the YAML of docs/ci.md whose first line names the file.
func ciPage(t *testing.T, file string, into any) {
	t.Helper()
	page := string(world.Read(t, filepath.Join(root, "docs", "ci.md")))
	_, after, found := strings.Cut(page, "```yaml\n# "+file+"\n")
	text, _, closed := strings.Cut(after, "\n```\n")
	if !found || !closed {
		t.Fatalf("docs/ci.md has no %s", file)
	}
	world.Must(t, yaml.Unmarshal([]byte(text), into))
}

func githubJobs(t *testing.T) map[string]job {
	t.Helper()
	var w struct {
		On   map[string]any
		Env  map[string]string
		Jobs map[string]struct {
			If    string
			Steps []struct {
				Uses, Run string
				Env       map[string]string
			}
		}
	}
	ciPage(t, ".github/workflows/fairlead.yaml", &w)
	for _, event := range []string{"pull_request", "push", "schedule"} {
		if w.On[event] == nil {
			t.Errorf("the workflow does not run on %s", event)
		}
	}
	jobs := map[string]job{}
	for name, j := range w.Jobs {
		steps := []step{{Env: w.Env}}
		for _, s := range j.Steps {
			if s.Run == "" && s.Uses == "" {
				t.Errorf("job %s has a step that does nothing", name)
			}
			steps = append(steps, step{s.Run, s.Env})
		}
		jobs[name] = job{j.If, steps}
	}
	return jobs
}

func gitlabJobs(t *testing.T) map[string]job {
	t.Helper()
	type gitlabJob struct {
		Script []string
		Rules  []struct{ If string }
	}
	var p struct{ Plan, Apply, Drift gitlabJob }
	ciPage(t, ".gitlab-ci.yml", &p)
	jobs := map[string]job{}
	for name, j := range map[string]gitlabJob{"plan": p.Plan, "apply": p.Apply, "drift": p.Drift} {
		if len(j.Rules) != 1 {
			t.Fatalf("job %s has %d rules, want 1", name, len(j.Rules))
		}
		jobs[name] = job{j.Rules[0].If, []step{{Run: strings.Join(j.Script, "\n")}}}
	}
	return jobs
}

// The programs that the jobs call beside ours.
var fakes = map[string]string{
	"docker": `[ "$1" = create ] || cp "$FAIRLEAD_BINARY" "$3"`,
	"gh":     `[ "$1 $2 $3 $4" = "pr comment 5 --body-file" ] && cp "$5" comment.md`,
	"curl": `for a in "$@"; do case "$a" in body@*) cp "${a#body@}" comment.md ;; esac; done
		[ "${*: -1}" = https://gitlab.example.com/api/v4/projects/1/merge_requests/5/notes ]`,
}

// runner runs jobs in a checkout of a repository.
type runner struct {
	*world.World
	dir    string
	values map[string]string // of ${{ }}
	env    []string
}

func newRunner(w *world.World, fleet string) *runner {
	w.T.Helper()
	f, err := w.REST.CreateFleetWithResponse(w.T.Context(), w.Tenant, client.FleetCreate{Name: fleet})
	w.Made(f, err)
	token, err := w.REST.CreateTokenWithResponse(w.T.Context(), w.Tenant, client.TokenCreate{Name: "pipeline", Role: client.Ci, Fleet: &fleet})
	w.Made(token, err)
	w.Fleet = fleet
	r := &runner{World: w, dir: w.T.TempDir()}
	bin := filepath.Join(r.dir, "bin")
	for _, dir := range []string{bin, filepath.Join(r.dir, "fleet", "shop"), filepath.Join(r.dir, "home")} {
		world.Must(w.T, os.MkdirAll(dir, 0o755))
	}
	for name, text := range fakes {
		world.Must(w.T, os.WriteFile(filepath.Join(bin, name), []byte("#!/usr/bin/env bash\n"+text+"\n"), 0o755))
	}
	r.values = map[string]string{
		"vars.FAIRLEAD_IMAGE": "fairlead", "vars.FAIRLEAD_URL": w.API, "vars.FAIRLEAD_TENANT": w.Tenant, "vars.FAIRLEAD_FLEET": fleet,
		"secrets.FAIRLEAD_TOKEN": token.JSON201.Token, "github.token": "secret", "github.event.pull_request.number": "5",
	}
	r.env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(r.dir, "home"), "FAIRLEAD_BINARY=" + world.Bin("fairlead"),
		"GITHUB_PATH=" + filepath.Join(r.dir, "path"), "GITHUB_REPOSITORY=acme/shop", "GITHUB_SHA=c0ffee",
	}
	return r
}

// onGitLab has the variables that GitLab gives a job, the project's own among them, and the command line
// in its image.
func (r *runner) onGitLab() {
	r.env = append(r.env, "FAIRLEAD_URL="+r.API, "FAIRLEAD_TENANT="+r.Tenant, "FAIRLEAD_FLEET="+r.Fleet,
		"FAIRLEAD_TOKEN="+r.values["secrets.FAIRLEAD_TOKEN"], "GITLAB_COMMENT_TOKEN=secret", "CI_PROJECT_ID=1", "CI_MERGE_REQUEST_IID=5",
		"CI_API_V4_URL=https://gitlab.example.com/api/v4", "CI_PROJECT_PATH=acme/shop", "CI_COMMIT_SHA=c0ffee")
	world.Must(r.T, os.Symlink(world.Bin("fairlead"), filepath.Join(r.dir, "bin", "fairlead")))
}

var expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)

// run runs a job, and returns what it printed and whether it passed.
func (r *runner) run(j job) (out string, passed bool) {
	r.T.Helper()
	env := append([]string{}, r.env...)
	for _, s := range j.steps {
		own := env
		for name, value := range s.Env {
			own = append(own, name+"="+expression.ReplaceAllStringFunc(value, func(m string) string {
				value, known := r.values[expression.FindStringSubmatch(m)[1]]
				if !known {
					r.T.Errorf("nobody sets %s", m)
				}
				return value
			}))
		}
		if s.Run == "" { // of the whole workflow
			env = own
			continue
		}
		cmd := exec.CommandContext(r.T.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
		cmd.Dir, cmd.Env = r.dir, own
		text, err := cmd.CombinedOutput()
		if out += string(text); err != nil {
			return out + err.Error(), false
		}
		if added, err := os.ReadFile(filepath.Join(r.dir, "path")); err == nil {
			env = append(env, "PATH="+strings.TrimSpace(string(added))+":"+strings.TrimPrefix(r.env[0], "PATH="))
		}
	}
	return out, true
}

func (r *runner) write(name, timeout string) {
	r.T.Helper()
	text := fmt.Sprintf("type: clusters\nname: %[1]s\nlabels: {managed-by: git}\nbody: {name: %[1]s, type: STATIC, connect_timeout: %[2]s}\n", name, timeout)
	world.Must(r.T, os.WriteFile(filepath.Join(r.dir, "fleet", "shop", name+".yaml"), []byte(text), 0o644))
}

// large plans more than a comment holds: what it says at its end, how much changes and the plan's token, is in the comment.
func (r *runner) large(first string, plan job) {
	r.T.Helper()
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "---\ntype: clusters\nname: many-%[1]d\nlabels: {managed-by: git}\nbody: {name: many-%[1]d, type: STATIC, connect_timeout: 1s}\n", i)
	}
	file := filepath.Join(r.dir, "fleet", "shop", "zz.yaml")
	world.Must(r.T, os.WriteFile(file, []byte(text.String()), 0o644))
	r.passes(plan, first, "503 to create", "\nplan-")
	world.Must(r.T, os.Remove(file))
}

// passes fails the test unless the job passes and prints, or comments, all of the words.
func (r *runner) passes(j job, words ...string) {
	r.T.Helper()
	out, passed := r.told(j)
	if !passed {
		r.T.Fatalf("the job failed:\n%s", out)
	}
	r.says(out, words)
}

// fails is passes of a job that has to fail.
func (r *runner) fails(j job, words ...string) {
	r.T.Helper()
	out, passed := r.told(j)
	if passed {
		r.T.Fatalf("the job passed:\n%s", out)
	}
	r.says(out, words)
}

func (r *runner) told(j job) (out string, passed bool) {
	r.T.Helper()
	comment := filepath.Join(r.dir, "comment.md")
	world.Must(r.T, os.RemoveAll(comment), os.RemoveAll(filepath.Join(r.dir, "path")))
	out, passed = r.run(j)
	if text, err := os.ReadFile(comment); err == nil {
		out += "the comment:\n" + string(text)
	}
	return out, passed
}

func (r *runner) says(out string, words []string) {
	r.T.Helper()
	for _, w := range words {
		if !strings.Contains(out, w) {
			r.T.Errorf("the job does not say %q:\n%s", w, out)
		}
	}
}

// TestCI runs the jobs of docs/ci.md: a change is planned, applied, found the same, changed by hand and found
// another, and taken out of the repository.
func TestCI(t *testing.T) {
	w := world.New(t)
	for name, c := range map[string]struct {
		jobs func(*testing.T) map[string]job
		when map[string]string
	}{
		"github": {githubJobs, map[string]string{"plan": "head.repo.full_name == github.repository", "apply": "== 'push'", "drift": "== 'schedule'"}},
		"gitlab": {gitlabJobs, map[string]string{"plan": `== "merge_request_event"`, "apply": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH", "drift": `== "schedule"`}},
	} {
		jobs := c.jobs(t)
		for which, words := range c.when {
			if got := jobs[which].when; !strings.Contains(got, words) {
				t.Errorf("%s runs %s when %q, which is not %q", name, which, got, words)
			}
		}
		w.Step(name, func() {
			r := newRunner(w, name)
			if name == "gitlab" {
				r.onGitLab()
			}
			r.lives(jobs["plan"], jobs["apply"], jobs["drift"])
		})
	}
}

func (r *runner) lives(plan, apply, drift job) {
	r.T.Helper()
	for _, name := range []string{"one", "two", "three"} {
		r.write(name, "1s")
	}
	r.passes(plan, "### What changes in fleet "+r.Fleet, "~~~diff\n", "+++ clusters/one (planned)", "3 to create")
	r.large("+++ clusters/one (planned)", plan)
	r.passes(apply, "revision 1: 3 resources changed")
	r.passes(plan, "### Nothing changes in fleet "+r.Fleet, "3 unchanged")
	r.passes(drift, "3 unchanged")

	newest, err := r.REST.GetRevisionWithResponse(r.T.Context(), r.Tenant, r.Fleet, 1)
	r.Made(newest, err)
	if m := newest.JSON200.Message; m == nil || *m != "acme/shop@c0ffee" {
		r.T.Errorf("the revision does not name the commit: %s", newest.Body)
	}

	r.write("one", "soon")
	r.fails(plan, "### There is no plan for fleet "+r.Fleet, "one.yaml", "connect_timeout")
	r.fails(apply, "connect_timeout")

	r.write("one", "1s")
	r.Put(world.NewResource("clusters", "two", "{name: two, type: STATIC, connect_timeout: 9s}"), world.NewResource("clusters", "beside", "{name: beside, type: STATIC}"))
	r.fails(drift, "1 to update", "is not what the branch says")

	world.Must(r.T, os.Remove(filepath.Join(r.dir, "fleet", "shop", "three.yaml")))
	r.passes(plan, "1 to update", "1 to delete", "--- clusters/three")
	r.passes(apply, "2 resources changed")
	left, err := r.REST.ListResourcesWithResponse(r.T.Context(), r.Tenant, r.Fleet, nil)
	r.Made(left, err)
	var names []string
	for _, item := range left.JSON200.Items {
		names = append(names, item.Name)
	}
	if got := strings.Join(names, " "); got != "beside one two" {
		r.T.Errorf("the fleet has %q: what the repository does not own has to stay, what it no longer has to go", got)
	}
}
