package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the format
	"github.com/goreleaser/nfpm/v2/files"
)

// deb writes the Debian package of an architecture: the programs, their units and what configures them.
func (t *tree) deb(arch string, bin string, share []file) (err error) {
	format, err := nfpm.Get("deb")
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "fairlead", Arch: arch, Platform: "linux", Version: t.Version, Section: "net", Priority: "optional",
		Maintainer: "Fairlead <fairlead@example.com>", License: "Apache-2.0", DisableGlobbing: true, MTime: t.date,
		Description: "control plane for Envoy and proxyless gRPC\nThe servers api and xds with their units, and the command line fairlead.",
		Overridables: nfpm.Overridables{
			Depends: []string{"systemd"}, Recommends: []string{"ca-certificates"}, Suggests: []string{"postgresql"},
			Contents: t.debContents(bin, share),
			Scripts:  nfpm.Scripts{PostInstall: t.unit("postinst"), PreRemove: t.unit("prerm")},
		},
	})
	if err := nfpm.Validate(info); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(t.Out, format.ConventionalFileName(info)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return format.Package(info, out)
}

// unit is a file of deploy/systemd.
func (t *tree) unit(name string) string { return filepath.Join(t.Root, "deploy", "systemd", name) }

// debContents says what is where. What a server is called with has no place of its own among the commands of a machine: "api" is anybody's word.
func (t *tree) debContents(bin string, share []file) files.Contents {
	var all files.Contents
	add := func(from, to, kind string, mode os.FileMode) {
		all = append(all, &files.Content{Source: from, Destination: to, Type: kind, FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: t.date}})
	}
	add(filepath.Join(bin, "fairlead"), "/usr/bin/fairlead", files.TypeFile, 0o755)
	for _, p := range []string{"api", "xds", "probe"} {
		add(filepath.Join(bin, p), "/usr/lib/fairlead/"+p, files.TypeFile, 0o755)
	}
	for _, p := range []string{"api", "xds"} {
		add("../lib/fairlead/"+p, "/usr/sbin/fairlead-"+p, files.TypeSymlink, 0)
	}
	for _, u := range []string{"fairlead-api.service", "fairlead-xds.service", "fairlead-migrate.service"} {
		add(t.unit(u), "/usr/lib/systemd/system/"+u, files.TypeFile, 0o644)
	}
	add(t.unit("fairlead.sysusers"), "/usr/lib/sysusers.d/fairlead.conf", files.TypeFile, 0o644)
	add("", "/etc/fairlead", files.TypeDir, 0o755)
	for _, p := range []string{"api", "xds", "migrate"} {
		add("", "/etc/fairlead/"+p, files.TypeDir, 0o750)
		add(t.unit(p+".env"), "/etc/fairlead/"+p+".env", files.TypeConfig, 0o640)
		add(t.unit("pgpass"), "/etc/fairlead/"+p+"/pgpass", files.TypeConfig, 0o600)
	}
	for _, f := range share {
		to := strings.Replace(f.name, "share/zsh/site-functions/", "share/zsh/vendor-completions/", 1)
		add(f.from, "/usr/"+to, files.TypeFile, 0o644)
	}
	add(filepath.Join(t.Root, "LICENSE"), "/usr/share/doc/fairlead/copyright", files.TypeFile, 0o644)
	add(filepath.Join(t.Root, "CHANGELOG.md"), "/usr/share/doc/fairlead/CHANGELOG.md", files.TypeFile, 0o644)
	add(filepath.Join(bin, "fairlead.spdx.json"), "/usr/share/doc/fairlead/fairlead.spdx.json", files.TypeFile, 0o644)
	return all
}
