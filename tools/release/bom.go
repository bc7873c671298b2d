package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// unknown is what SPDX has for what was not looked at.
const unknown = "NOASSERTION"

// bom writes what the programs in bin are made of, in SPDX 2.3: the modules that the linker has noted in each, and the packages of the page.
func (t *tree) bom(ctx context.Context, name, bin, path string) error {
	b := &billing{doc: &v2_3.Document{
		SPDXVersion: v2_3.Version, DataLicense: v2_3.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: name,
		CreationInfo: &v2_3.CreationInfo{Created: t.date.Format(time.RFC3339), Creators: []common.Creator{{CreatorType: "Tool", Creator: "fairlead-release"}}},
	}, ids: map[string]common.ElementID{}}
	page, err := t.page()
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, p := range programs {
		hash, err := sum(filepath.Join(bin, p))
		if err != nil {
			return err
		}
		info, err := buildinfo.ReadFile(filepath.Join(bin, p))
		if err != nil {
			return err
		}
		fmt.Fprintln(&sums, p, hash)
		has, err := t.embedsPage(ctx, p)
		if err != nil {
			return err
		}
		libraries := page
		if !has {
			libraries = nil
		}
		b.program(p, t.Version, hash, info, libraries)
	}
	// Of the content: the same release has the same name wherever it is built, and another one another.
	b.doc.DocumentNamespace = "https://fairlead.invalid/spdx/" + url.PathEscape(name) + "-" + shortHash(sums.Bytes())
	var out bytes.Buffer
	if err := spdxjson.Write(b.doc, &out, spdxjson.Indent("  ")); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// billing writes each package once.
type billing struct {
	doc *v2_3.Document
	ids map[string]common.ElementID // by purl, or by the name of a program
}

func (b *billing) program(name, version, hash string, info *buildinfo.BuildInfo, page []packaged) {
	id := b.add(name, &v2_3.Package{
		PackageName: name, PackageVersion: version, PackageFileName: "bin/" + name, PackageLicenseDeclared: "Apache-2.0", PrimaryPackagePurpose: "APPLICATION",
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
		PackageExternalReferences: []*v2_3.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: purl}},
	})
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

// embedsPage reports whether a program has the page in it.
func (t *tree) embedsPage(ctx context.Context, program string) (bool, error) {
	deps, err := t.run(ctx, goEnv, "go", "list", "-deps", "./cmd/"+program)
	return slices.Contains(strings.Fields(string(deps)), "fairlead/web"), err
}

// page are the libraries of the page, which the servers have in them: all that its lock file has beside tools.
func (t *tree) page() ([]packaged, error) {
	text, err := os.ReadFile(filepath.Join(t.Root, "web", "package-lock.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version, License string
			Dev, Optional    bool
			DevOptional      bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("web/package-lock.json: %w", err)
	}
	var all []packaged
	for _, path := range slices.Sorted(maps.Keys(lock.Packages)) {
		p := lock.Packages[path]
		at := strings.LastIndex(path, "node_modules/")
		if at < 0 || p.Dev || p.Optional || p.DevOptional {
			continue
		}
		all = append(all, packaged{name: path[at+len("node_modules/"):], version: p.Version, kind: "npm", license: p.License})
	}
	return all, nil
}
