// Package bom writes what programs are made of, in SPDX 2.3: the modules that the linker has noted in each, and the packages of the page.
// It is of the programs as they are: neither git nor Go is needed.
package bom

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// unknown is what SPDX has for what was not looked at.
const unknown = "NOASSERTION"

// Config is one document.
type Config struct {
	Name    string // of the document, such as that of an archive
	Version string // of the programs, "" where none is told
	Created time.Time
	Root    string // the source tree, for the packages of the page

	Bin      string // the folder of the programs
	Programs []string
	In       string // that folder in what is published, such as bin

	// Builder is the root of the system whose public certificate authorities are published beside the programs, "" where they are not.
	Builder string
}

// Authorities is where Debian has the public certificate authorities in one file, and where Go looks for them.
const Authorities = "etc/ssl/certs/ca-certificates.crt"

// Write writes the document.
func Write(c Config, to string) error {
	b := &billing{doc: &v2_3.Document{
		SPDXVersion: v2_3.Version, DataLicense: v2_3.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: c.Name,
		CreationInfo: &v2_3.CreationInfo{Created: c.Created.UTC().Format(time.RFC3339), Creators: []common.Creator{{CreatorType: "Tool", Creator: "fairlead-release"}}},
	}, ids: map[string]common.ElementID{}}
	page, archive, err := page(c.Root)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, p := range c.Programs {
		text, err := os.ReadFile(filepath.Join(c.Bin, p))
		if err != nil {
			return err
		}
		info, err := buildinfo.Read(bytes.NewReader(text))
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		hash := fmt.Sprintf("%x", sha256.Sum256(text))
		fmt.Fprintln(&sums, p, hash)
		libraries := page
		if !bytes.Contains(text, archive) {
			libraries = nil
		}
		b.program(p, c.Version, path.Join(c.In, p), hash, info, libraries)
	}
	if c.Builder != "" {
		hash, err := b.authorities(c.Builder)
		if err != nil {
			return err
		}
		fmt.Fprintln(&sums, Authorities, hash)
	}
	// Of the content: the same release has the same name wherever it is built, and another one another.
	b.doc.DocumentNamespace = "https://fairlead.invalid/spdx/" + url.PathEscape(c.Name) + "-" + fmt.Sprintf("%x", sha256.Sum256(sums.Bytes()))[:16]
	var out bytes.Buffer
	if err := spdxjson.Write(b.doc, &out, spdxjson.Indent("  ")); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o644)
}

// Image writes the document of an image: all programs of bin, which the image has in /usr/local/bin, and the builder's certificate authorities.
func Image(version, root, bin, builder, to string) error {
	created, err := when()
	if err != nil {
		return err
	}
	files, err := os.ReadDir(bin)
	if err != nil {
		return err
	}
	c := Config{Version: version, Created: created, Root: root, Bin: bin, In: "usr/local/bin", Builder: builder}
	platforms := map[string]bool{}
	for _, f := range files {
		info, err := buildinfo.ReadFile(filepath.Join(bin, f.Name()))
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		c.Programs = append(c.Programs, f.Name())
		platforms[setting(info, "GOOS")+"_"+setting(info, "GOARCH")] = true
	}
	if len(platforms) != 1 {
		return fmt.Errorf("%s has programs for %d platforms, %v: an image is for one", bin, len(platforms), slices.Sorted(maps.Keys(platforms)))
	}
	names := []string{"fairlead-image", version}
	names = slices.DeleteFunc(append(names, slices.Collect(maps.Keys(platforms))...), func(s string) bool { return s == "" })
	c.Name = strings.Join(names, "_")
	return Write(c, to)
}

// when is SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch), else the present.
func when() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return time.Now(), nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q: give seconds since 1970", text)
	}
	return time.Unix(seconds, 0), nil
}

func setting(info *buildinfo.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// authorities tells of the certificate authorities as of a package of the builder, and returns the file's hash.
func (b *billing) authorities(builder string) (string, error) {
	text, err := os.ReadFile(filepath.Join(builder, Authorities))
	if err != nil {
		return "", err
	}
	hash := fmt.Sprintf("%x", sha256.Sum256(text))
	p := &v2_3.Package{
		PackageName: "ca-certificates", PackageVersion: unknown, PackageFileName: Authorities, PrimaryPackagePurpose: "FILE",
		PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: hash}},
	}
	// What is not there, as in a builder that is not Debian's, is not known.
	status, err := os.ReadFile(filepath.Join(builder, "var/lib/dpkg/status"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	release, err := os.ReadFile(filepath.Join(builder, "etc/os-release"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if version := installed(string(status), p.PackageName); version != "" {
		p.PackageVersion = version
		if system := regexp.MustCompile(`(?m)^ID="?([a-z]+)"?$`).FindSubmatch(release); system != nil { // Debian, or what comes of it
			p.PackageExternalReferences = purlOf(packaged{name: string(system[1]) + "/" + p.PackageName, version: version, kind: "deb"}.purl() + "?arch=all")
		}
	}
	b.relate("DOCUMENT", common.TypeRelationshipDescribe, b.add(p.PackageName, p))
	return hash, nil
}

// installed is the version of a package in dpkg's database, "" where it is not installed.
func installed(status, name string) string {
	for entry := range strings.SplitSeq(status, "\n\n") {
		fields := map[string]string{}
		for line := range strings.Lines(entry) {
			key, value, _ := strings.Cut(line, ":")
			fields[key] = strings.TrimSpace(value)
		}
		if fields["Package"] == name && strings.HasSuffix(fields["Status"], " installed") {
			return fields["Version"]
		}
	}
	return ""
}

// billing writes each package once.
type billing struct {
	doc *v2_3.Document
	ids map[string]common.ElementID // by purl, or by the name of a program
}

func (b *billing) program(name, version, file, hash string, info *buildinfo.BuildInfo, page []packaged) {
	id := b.add(name, &v2_3.Package{
		PackageName: name, PackageVersion: version, PackageFileName: file, PackageLicenseDeclared: "Apache-2.0", PrimaryPackagePurpose: "APPLICATION",
		PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: hash}},
	})
	b.relate("DOCUMENT", common.TypeRelationshipDescribe, id)
	b.relate(id, common.TypeRelationshipDependsOn, b.library(packaged{name: "stdlib", version: strings.TrimPrefix(info.GoVersion, "go"), kind: "golang"}))
	for _, m := range info.Deps {
		if m.Replace != nil && m.Replace.Version == "" {
			continue // a module of this repository, as the program is
		}
		if m.Replace != nil {
			m = m.Replace
		}
		b.relate(id, common.TypeRelationshipDependsOn, b.library(packaged{name: m.Path, version: m.Version, kind: "golang", license: unknown}))
	}
	for _, p := range page {
		b.relate(id, common.TypeRelationshipDependsOn, b.library(p))
	}
}

func (b *billing) library(p packaged) common.ElementID {
	purl := p.purl()
	if id, there := b.ids[purl]; there {
		return id
	}
	return b.add(purl, &v2_3.Package{
		PackageName: p.name, PackageVersion: p.version, PackageLicenseDeclared: p.license, PrimaryPackagePurpose: "LIBRARY",
		PackageExternalReferences: purlOf(purl),
	})
}

func purlOf(purl string) []*v2_3.PackageExternalReference {
	return []*v2_3.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: purl}}
}

var notInID = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

func (b *billing) add(key string, p *v2_3.Package) common.ElementID {
	p.PackageSPDXIdentifier = common.ElementID(fmt.Sprintf("Package-%d-%s", len(b.ids), notInID.ReplaceAllString(p.PackageName, "-")))
	p.PackageDownloadLocation, p.PackageLicenseConcluded, p.PackageCopyrightText = unknown, unknown, unknown
	if p.PackageLicenseDeclared == "" {
		p.PackageLicenseDeclared = unknown
	}
	b.ids[key] = p.PackageSPDXIdentifier
	b.doc.Packages = append(b.doc.Packages, p)
	return p.PackageSPDXIdentifier
}

func (b *billing) relate(from common.ElementID, is string, to common.ElementID) {
	b.doc.Relationships = append(b.doc.Relationships, &v2_3.Relationship{RefA: common.MakeDocElementID("", string(from)), Relationship: is, RefB: common.MakeDocElementID("", string(to))})
}

// packaged is a library as its registry knows it.
type packaged struct{ name, version, kind, license string }

// purl is its package URL: https://github.com/package-url/purl-spec.
func (p packaged) purl() string {
	parts := strings.Split(p.name, "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.PathEscape(part), "@", "%40")
	}
	return "pkg:" + p.kind + "/" + strings.Join(parts, "/") + "@" + strings.ReplaceAll(url.PathEscape(p.version), "+", "%2B")
}

// page are the libraries of the page, all that its lock file has beside tools, and the archive that is embedded in a program that has it.
func page(root string) (libraries []packaged, archive []byte, err error) {
	text, err := os.ReadFile(filepath.Join(root, "web", "package-lock.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if archive, err = os.ReadFile(filepath.Join(root, "web", "dist.zip")); err != nil {
		return nil, nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version, License string
			Dev, Optional    bool
			DevOptional      bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, nil, fmt.Errorf("web/package-lock.json: %w", err)
	}
	for _, path := range slices.Sorted(maps.Keys(lock.Packages)) {
		p := lock.Packages[path]
		at := strings.LastIndex(path, "node_modules/")
		if at < 0 || p.Dev || p.Optional || p.DevOptional {
			continue
		}
		libraries = append(libraries, packaged{name: path[at+len("node_modules/"):], version: p.Version, kind: "npm", license: p.License})
	}
	return libraries, archive, nil
}
