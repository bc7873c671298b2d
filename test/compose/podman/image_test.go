package podman

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"
)

// clone is a checkout of one commit with this tree's files, which is the same each time but for its folder, the rights and the times of its files.
func (e *engine) clone(umask string) string {
	e.Helper()
	dir := e.TempDir()
	script := `set -eu; umask "$1"; mkdir "$3"; tar -C "$2" --exclude-vcs-ignores --exclude=.git --exclude=node_modules -c . | tar -C "$3" --no-same-permissions --touch -x
cd "$3"; git init -q; git add -A; git -c user.name=nobody -c user.email=nobody@example.com commit -q -m "a release"`
	cmd := exec.Command("sh", "-c", script, "sh", umask, e.root, filepath.Join(dir, "tree"))
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	if out, err := cmd.CombinedOutput(); err != nil {
		e.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "tree")
}

// TestTwoBuildsAreOneImage: of one commit, from two folders. Go's own cache is that of this machine; in `make soak` the second build has none.
func TestTwoBuildsAreOneImage(t *testing.T) {
	e := newEngine(t, "podman", "runc", "go")
	builder := "localhost/" + e.prefix + "-builder"
	e.program("", "test/compose/podman/builder", builder)
	type image struct {
		ID, Digest string
		Created    string
		Config     struct{ User string }
	}
	var built []image
	for i, umask := range []string{"022", "077"} {
		cache := goEnv(e, "GOCACHE")
		if i > 0 && os.Getenv("FAIRLEAD_SOAK") != "" {
			cache = t.TempDir()
		}
		name := "localhost/" + e.prefix + "-image:" + umask
		e.image(e.clone(umask), "1.2.3", name, cache, "--build-arg", "GO_IMAGE="+builder, "--volume", goEnv(e, "GOROOT")+":/usr/local/go:ro")
		var one []image
		must(t, json.Unmarshal([]byte(e.program("", "podman", "image", "inspect", name)), &one))
		built = append(built, one...)
	}
	if built[0] != built[1] || built[0].ID == "" || built[0].Digest == "" {
		t.Errorf("two builds of one commit differ:\n%+v\n%+v", built[0], built[1])
	}
	if built[0].Created != "2023-11-14T22:13:20Z" {
		t.Errorf("it was made at %s, which is not the commit's time", built[0].Created)
	}
	// The layers' files, as a registry gets them, have no time but that.
	saved := filepath.Join(t.TempDir(), "image.tar")
	e.program("", "podman", "image", "save", "--format", "docker-archive", "--output", saved, "localhost/"+e.prefix+"-image:022")
	layers := t.TempDir()
	listing := e.program("", "bash", "-c", `tar -C "$1" -xf "$2"; TZ=UTC; export TZ; for l in "$1"/*.tar; do tar --full-time -tvf "$(readlink -f "$l")"; done`, "bash", layers, saved)
	if !strings.Contains(listing, "usr/local/bin/xds") || !regexp.MustCompile(`-rw-r--r-- 0/0 .* usr/share/doc/fairlead/fairlead\.spdx\.json\n`).MatchString(listing) {
		t.Errorf("no xds in the layers, or no SPDX document that all can read:\n%s", listing)
	}
	for line := range strings.Lines(listing) {
		if !strings.Contains(line, "2023-11-14 22:13:20") {
			t.Errorf("a file has a time of its own: %s", line)
		}
	}
}

// TestImageForEachArchitecture: one name leads to an image for each, whose programs are made for it. In `make soak` they are two.
func TestImageForEachArchitecture(t *testing.T) {
	e := newEngine(t, "podman", "runc", "go")
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	if os.Getenv("FAIRLEAD_SOAK") == "" {
		machines = map[string]elf.Machine{runtime.GOARCH: machines[runtime.GOARCH]}
	}
	var platforms []string
	for arch := range machines {
		platforms = append(platforms, "linux/"+arch)
	}
	builder, name := "localhost/"+e.prefix+"-builder", "localhost/"+e.prefix+"-image:all"
	e.program("", "test/compose/podman/builder", builder)
	e.program("", "podman", "manifest", "create", name, "containers-storage:"+builder) // of an earlier build
	e.Cleanup(func() { e.program("", "podman", "manifest", "rm", name) })
	e.env = append(e.env, "PLATFORMS="+strings.Join(platforms, ","))
	e.image(e.clone("022"), "1.2.3", name, goEnv(e, "GOCACHE"), "--build-arg", "GO_IMAGE="+builder, "--volume", goEnv(e, "GOROOT")+":/usr/local/go:ro")
	var list struct {
		Manifests []struct {
			Digest   string
			Platform struct{ OS, Architecture string }
		}
	}
	must(t, json.Unmarshal([]byte(e.program("", "podman", "manifest", "inspect", name)), &list))
	ids := map[string]string{} // by digest
	for line := range strings.Lines(e.program("", "podman", "image", "ls", "--all", "--no-trunc", "--format", "{{.Digest}} {{.ID}}")) {
		digest, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		ids[digest] = id
	}
	for _, m := range list.Manifests {
		arch := m.Platform.Architecture
		want, ok := machines[arch]
		if delete(machines, arch); !ok || m.Platform.OS != "linux" {
			t.Errorf("the list has an image for %+v", m.Platform)
			continue
		}
		container, files := e.prefix+"-"+arch, t.TempDir()
		e.program("", "podman", "create", "--name", container, "--platform", "linux/"+arch, ids[m.Digest])
		for _, path := range []string{"usr/local/bin", "etc/ssl/certs", "usr/share/doc/fairlead"} {
			must(t, os.MkdirAll(filepath.Join(files, filepath.Dir(path)), 0o700))
			e.program("", "podman", "cp", container+":/"+path, filepath.Join(files, path))
		}
		f, err := elf.Open(filepath.Join(files, "usr/local/bin/xds"))
		must(t, err)
		if f.Machine != want {
			t.Errorf("the image for %s has programs for %s", arch, f.Machine)
		}
		must(t, f.Close())
		e.document(files, "1.2.3", arch)
		e.program("", "podman", "rm", container)
		e.program("", "podman", "image", "rm", ids[m.Digest])
	}
	if len(machines) > 0 {
		t.Errorf("the list has no image for %v: %+v", machines, list)
	}
}

// document compares the image's SPDX document with the files of the image: each program and the authorities by their hash, and each program's modules.
func (e *engine) document(files, version, arch string) {
	e.Helper()
	text, err := os.ReadFile(filepath.Join(files, "usr/share/doc/fairlead/fairlead.spdx.json"))
	must(e.T, err)
	var doc v2_3.Document // of no other version of SPDX
	must(e.T, spdxjson.ReadInto(bytes.NewReader(text), &doc))
	must(e.T, spdxlib.ValidateDocument(&doc))
	var again bytes.Buffer
	must(e.T, spdxjson.Write(&doc, &again, spdxjson.Indent("  ")))
	if doc.SPDXVersion != v2_3.Version || again.String() != string(text) { // a field that SPDX has not would be lost
		e.Errorf("the document of %s is not SPDX 2.3, which has of it:\n%s", arch, again.String())
	}
	if want := "fairlead-image_" + version + "_linux_" + arch; doc.DocumentName != want || doc.CreationInfo.Created != "2023-11-14T22:13:20Z" {
		e.Errorf("the document is %s of %s, want %s of the commit's time", doc.DocumentName, doc.CreationInfo.Created, want)
	}
	byFile, byID := map[string]*v2_3.Package{}, map[string]*v2_3.Package{}
	for _, p := range doc.Packages {
		byID[string(p.PackageSPDXIdentifier)] = p
		if p.PackageFileName != "" {
			byFile[p.PackageFileName] = p
		}
	}
	modules := map[string]map[string]bool{} // of a file
	for _, r := range doc.Relationships {
		from, to := byID[string(r.RefA.ElementRefID)], byID[string(r.RefB.ElementRefID)]
		if r.Relationship != "DEPENDS_ON" || from == nil || to == nil {
			continue
		}
		if modules[from.PackageFileName] == nil {
			modules[from.PackageFileName] = map[string]bool{}
		}
		for _, ref := range to.PackageExternalReferences {
			modules[from.PackageFileName][ref.Locator] = true
		}
	}
	programs, err := filepath.Glob(filepath.Join(files, "usr/local/bin/*"))
	must(e.T, err)
	if len(programs) < 4 || len(byFile) != len(programs)+1 {
		e.Errorf("the image for %s has %d programs, and its document %d files: %v", arch, len(programs), len(byFile), byFile)
	}
	for _, path := range append(programs, filepath.Join(files, "etc/ssl/certs/ca-certificates.crt")) {
		name, err := filepath.Rel(files, path)
		must(e.T, err)
		content, err := os.ReadFile(path)
		must(e.T, err)
		p, hash := byFile[name], fmt.Sprintf("%x", sha256.Sum256(content))
		if p == nil || len(p.PackageChecksums) != 1 || string(p.PackageChecksums[0].Algorithm) != "SHA256" || p.PackageChecksums[0].Value != hash {
			e.Errorf("%s of %s is %s, and told as %+v", name, arch, hash, p)
			continue
		}
		if p.PackageName == "ca-certificates" {
			// That of the builder's stand-in is this machine's.
			want, err := exec.Command("dpkg-query", "--show", "--showformat", "${Version}", "ca-certificates").Output()
			if err != nil {
				want = []byte("NOASSERTION") // it has none
			}
			if p.PackageVersion != string(want) {
				e.Errorf("the authorities are of %s, want %s", p.PackageVersion, want)
			}
			continue
		}
		if p.PackageVersion != version {
			e.Errorf("%s is of version %s, want %s", name, p.PackageVersion, version)
		}
		info, err := buildinfo.ReadFile(path)
		must(e.T, err)
		wanted := []string{"pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go")}
		for _, m := range info.Deps {
			if !strings.HasPrefix(m.Path, "fairlead/") { // else of the same repository
				wanted = append(wanted, "pkg:golang/"+m.Path+"@"+strings.ReplaceAll(m.Version, "+", "%2B"))
			}
		}
		for _, purl := range wanted {
			if !modules[name][purl] {
				e.Errorf("%s of %s has %s, which is not told", name, arch, purl)
			}
		}
	}
}

// TestImageIsOfACommit: without git nothing says of when the tree is.
func TestImageIsOfACommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script, err := os.ReadFile("../../../deploy/image")
	must(t, err)
	must(t, os.Mkdir(filepath.Join(dir, "deploy"), 0o700))
	path := filepath.Join(dir, "deploy", "image")
	must(t, os.WriteFile(path, script, 0o700))
	for _, c := range []struct {
		args []string
		want string
	}{{[]string{"1.2.3"}, "usage: deploy/image VERSION NAME"}, {[]string{"1.2.3", "fairlead:test"}, "set SOURCE_DATE_EPOCH"}} {
		cmd := exec.Command(path, c.args...)
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
}
