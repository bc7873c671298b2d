package bom

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes files, by name, with their folders.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o750))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

// compile makes a program for a platform, with the page in it or without.
func compile(t *testing.T, tree, goos, arch, to string, page bool) {
	t.Helper()
	text := "package main\n\nfunc main() {}\n"
	if page {
		text = "package main\n\nimport _ \"embed\"\n\n//go:embed dist.zip\nvar page string\n\nfunc main() { println(page) }\n"
	}
	write(t, tree, map[string]string{"go.mod": "module example.com/program\n\ngo 1.26\n", "web/main.go": text})
	cmd := exec.Command("go", "build", "-o", to, "./web")
	cmd.Dir, cmd.Env = tree, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+arch, "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

const (
	lock   = `{"packages": {"": {"name": "page"}, "node_modules/@a/b": {"version": "1.2.3", "license": "MIT"}, "node_modules/tool": {"version": "1.0.0", "dev": true}}}`
	status = "Package: ca-certificates-java\nStatus: install ok installed\nVersion: 1\n\nPackage: ca-certificates\nStatus: install ok installed\nArchitecture: all\nVersion: 20230311+deb12u1\nDescription: Common CA certificates\n Contains them.\n\nPackage: gone\nStatus: deinstall ok config-files\nVersion: 2\n"
	debian = "PRETTY_NAME=\"Debian GNU/Linux 12\"\nVERSION_ID=\"12\"\nID=debian\n"
)

// TestImage: the document of an image has each of its programs, with the page where it is embedded, and the builder's authorities.
func TestImage(t *testing.T) {
	tree, bin, out := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "fairlead.spdx.json")
	write(t, tree, map[string]string{"web/package-lock.json": lock, "web/dist.zip": strings.Repeat("a page", 1000)})
	compile(t, tree, "linux", "arm64", filepath.Join(bin, "cli"), false)
	compile(t, tree, "linux", "arm64", filepath.Join(bin, "server"), true)
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	for name, c := range map[string]struct {
		version       string
		builder       map[string]string
		document      string
		authorities   string
		authoritiesAs string
	}{
		"a builder of Debian":        {"1.2.3", map[string]string{"etc/os-release": debian, "var/lib/dpkg/status": status}, "fairlead-image_1.2.3_linux_arm64", "20230311+deb12u1", "pkg:deb/debian/ca-certificates@20230311%2Bdeb12u1?arch=all"},
		"of another system":          {"", map[string]string{"etc/os-release": "ID=alpine\n"}, "fairlead-image_linux_arm64", unknown, ""},
		"dpkg of an unknown system":  {"1.2.3", map[string]string{"var/lib/dpkg/status": status}, "fairlead-image_1.2.3_linux_arm64", "20230311+deb12u1", ""},
		"a package that was removed": {"1.2.3", map[string]string{"etc/os-release": debian, "var/lib/dpkg/status": strings.ReplaceAll(status, "install ok installed", "deinstall ok config-files")}, "fairlead-image_1.2.3_linux_arm64", unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			builder := t.TempDir()
			write(t, builder, c.builder)
			write(t, builder, map[string]string{Authorities: "certificates"})
			must(t, Image(c.version, tree, bin, builder, out))
			text, err := os.ReadFile(out)
			must(t, err)
			doc, err := spdxjson.Read(strings.NewReader(string(text)))
			must(t, err)
			must(t, spdxlib.ValidateDocument(doc))
			if doc.DocumentName != c.document || doc.CreationInfo.Created != "2023-11-14T22:13:20Z" {
				t.Errorf("the document is %s of %s", doc.DocumentName, doc.CreationInfo.Created)
			}
			packages := map[string]*v2_3.Package{}
			for _, p := range doc.Packages {
				packages[p.PackageName] = p
			}
			if len(packages) != 5 || packages["stdlib"] == nil {
				t.Fatalf("%d packages: %v", len(packages), packages)
			}
			ca := packages["ca-certificates"]
			sum := fmt.Sprintf("%x", sha256.Sum256([]byte("certificates")))
			if ca.PackageVersion != c.authorities || ca.PackageFileName != Authorities || len(ca.PackageChecksums) != 1 || ca.PackageChecksums[0].Value != sum {
				t.Errorf("the authorities: %+v", ca)
			}
			if purls := ca.PackageExternalReferences; len(purls) > 1 || len(purls) == 1 != (c.authoritiesAs != "") || len(purls) == 1 && purls[0].Locator != c.authoritiesAs {
				t.Errorf("the authorities are %+v, want %q", purls, c.authoritiesAs)
			}
			var described, pages []string
			for _, r := range doc.Relationships {
				switch {
				case r.Relationship == "DESCRIBES":
					described = append(described, string(r.RefB.ElementRefID))
				case r.RefB.ElementRefID == packages["@a/b"].PackageSPDXIdentifier:
					pages = append(pages, string(r.RefA.ElementRefID))
				}
			}
			if want := []string{string(packages["cli"].PackageSPDXIdentifier), string(packages["server"].PackageSPDXIdentifier), string(ca.PackageSPDXIdentifier)}; fmt.Sprint(described) != fmt.Sprint(want) {
				t.Errorf("it describes %v, want %v", described, want)
			}
			if want := []string{string(packages["server"].PackageSPDXIdentifier)}; fmt.Sprint(pages) != fmt.Sprint(want) {
				t.Errorf("the page is in %v, want %v", pages, want)
			}
			if got := packages["server"]; got.PackageFileName != "usr/local/bin/server" || got.PackageVersion != c.version {
				t.Errorf("%+v", got)
			}
		})
	}
}

// No document is written that would be wrong.
func TestImageRefused(t *testing.T) {
	tree, builder := t.TempDir(), t.TempDir()
	write(t, builder, map[string]string{Authorities: "certificates"})
	arm, both, text := t.TempDir(), t.TempDir(), t.TempDir()
	compile(t, tree, "linux", "arm64", filepath.Join(arm, "a"), false)
	compile(t, tree, "linux", "arm64", filepath.Join(both, "a"), false)
	compile(t, tree, "linux", "amd64", filepath.Join(both, "b"), false)
	write(t, text, map[string]string{"README": "no program"})
	for name, c := range map[string]struct{ bin, builder, epoch, want string }{
		"two platforms":  {both, builder, "1", "programs for 2 platforms, [linux_amd64 linux_arm64]"},
		"none":           {t.TempDir(), builder, "1", "programs for 0 platforms"},
		"no program":     {text, builder, "1", "README: "},
		"no authorities": {arm, t.TempDir(), "1", Authorities},
		"no time":        {arm, builder, "yesterday", `SOURCE_DATE_EPOCH is "yesterday"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SOURCE_DATE_EPOCH", c.epoch)
			if err := Image("1.2.3", tree, c.bin, c.builder, filepath.Join(t.TempDir(), "x")); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestPurl(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]packaged{
		"pkg:golang/github.com/a/b/v2@v2.0.0": {name: "github.com/a/b/v2", version: "v2.0.0", kind: "golang"}, "pkg:golang/x.org/y@v2.0.0%2Bincompatible": {name: "x.org/y", version: "v2.0.0+incompatible", kind: "golang"}, "pkg:npm/%40a/b@1.0.0": {name: "@a/b", version: "1.0.0", kind: "npm"},
	} {
		if got := p.purl(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
