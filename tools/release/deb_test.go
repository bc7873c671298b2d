package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// exposure is what a unit may be exposed at most, in tenths of what systemd-analyze says.
const exposure = "15"

// checkDeb reads a package back with dpkg's own program, and runs what is in it.
func checkDeb(t *testing.T, path string) {
	dir := t.TempDir()
	call(t, dir, "dpkg-deb", "--raw-extract", path, dir)
	control := read(t, filepath.Join(dir, "DEBIAN", "control"))
	for _, want := range []string{"Package: fairlead\n", "Version: " + strings.Replace(version, "-", "~", 1) + "\n", "Architecture: " + runtime.GOARCH + "\n", "Depends: systemd\n"} {
		if !strings.Contains(control, want) {
			t.Errorf("no %q in\n%s", want, control)
		}
	}
	for name, mode := range map[string]os.FileMode{
		"usr/bin/fairlead": 0o755, "usr/lib/fairlead/api": 0o755, "usr/lib/fairlead/xds": 0o755, "usr/lib/fairlead/probe": 0o755, "usr/lib/systemd/system/fairlead-migrate.service": 0o644,
		"etc/fairlead/api": os.ModeDir | 0o750, "etc/fairlead/xds": os.ModeDir | 0o750, "etc/fairlead/xds/pgpass": 0o600, "etc/fairlead/api.env": 0o640, "DEBIAN/postinst": 0o755, "DEBIAN/prerm": 0o755,
		"usr/share/man/man8/fairlead-xds.8": 0o644, "usr/share/zsh/vendor-completions/_fairlead": 0o644, "usr/share/doc/fairlead/copyright": 0o644,
	} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v, want %v", name, info, err, mode)
		}
	}
	kept := strings.Fields(read(t, filepath.Join(dir, "DEBIAN", "conffiles")))
	for _, name := range []string{"/etc/fairlead/api.env", "/etc/fairlead/xds.env", "/etc/fairlead/migrate.env", "/etc/fairlead/api/pgpass"} {
		if !slices.Contains(kept, name) {
			t.Errorf("an upgrade writes over %s: %v", name, kept)
		}
	}
	for program, want := range map[string]string{"usr/sbin/fairlead-api": "api " + version, "usr/sbin/fairlead-xds": "xds " + version} {
		if got := call(t, dir, filepath.Join(dir, program), "--version"); got != want+"\n" {
			t.Errorf("%s says %q", program, got)
		}
	}
	for _, script := range []string{"postinst", "prerm"} {
		call(t, dir, "sh", "-n", filepath.Join(dir, "DEBIAN", script))
	}
	call(t, dir, "systemd-sysusers", "--root="+dir, "fairlead.conf")
	users := read(t, filepath.Join(dir, "etc", "passwd"))
	units, err := filepath.Glob(filepath.Join(dir, "usr", "lib", "systemd", "system", "*.service"))
	must(t, err)
	if len(units) != 3 {
		t.Errorf("%v", units)
	}
	for _, u := range units {
		checkUnit(t, dir, u, users)
	}
}

var (
	variable = regexp.MustCompile(`(?m)^#?(FAIRLEAD_\w+)=|[= ](FAIRLEAD_\w+)=`)
	line     = regexp.MustCompile(`(?m)^(\w+)=(.*)$`)
)

// checkUnit has systemd read a unit, and asks the program for what the unit gives it.
func checkUnit(t *testing.T, dir, path, users string) {
	text := read(t, path)
	settings := map[string][]string{}
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		settings[m[1]] = append(settings[m[1]], m[2])
	}
	program, args, _ := strings.Cut(settings["ExecStart"][0], " ")
	help := call(t, dir, filepath.Join(dir, program), append(strings.Fields(args), "--help")...)
	environment := text + read(t, filepath.Join(dir, settings["EnvironmentFile"][0]))
	checked := 0
	for _, m := range variable.FindAllStringSubmatch(environment, -1) {
		checked++
		if name := m[1] + m[2]; !regexp.MustCompile(`\$` + name + `\b`).MatchString(help) {
			t.Errorf("%s gives %s, which %s %s does not know", filepath.Base(path), name, program, args)
		}
	}
	if checked == 0 || !strings.Contains(users, settings["User"][0]+":") {
		t.Errorf("%s: %d variables, user %v of\n%s", filepath.Base(path), checked, settings["User"], users)
	}
	page := regexp.MustCompile(`^man:(.+)\((\d)\)$`).FindStringSubmatch(settings["Documentation"][0])
	if _, err := os.Stat(filepath.Join(dir, "usr", "share", "man", "man"+page[2], page[1]+"."+page[2])); err != nil {
		t.Errorf("%s: %v", filepath.Base(path), err)
	}
	// It is read where it lies, so that its programs are those of the package.
	must(t, os.WriteFile(path, []byte(strings.ReplaceAll(text, "=/usr/lib/fairlead/", "="+dir+"/usr/lib/fairlead/")), 0o644))
	if out, err := exec.Command("systemd-analyze", "verify", "--man=no", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify %s: %v\n%s", filepath.Base(path), err, out)
	}
	if out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold="+exposure, path).CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security %s: %v\n%s", filepath.Base(path), err, out)
	}
}
