package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// chart packs the Helm chart, which then is of this version and runs the image of this version.
func (t *tree) chart() error {
	from := filepath.Join(t.Root, "deploy", "helm", "fairlead")
	meta, err := os.ReadFile(filepath.Join(from, "Chart.yaml"))
	if err != nil {
		return err
	}
	const version, appVersion = "\nversion: 0.0.0\n", "\nappVersion: 0.0.0\n"
	text := string(meta)
	for _, line := range []string{version, appVersion} {
		if strings.Count(text, line) != 1 {
			return errors.New("deploy/helm/fairlead/Chart.yaml has to have a line " + strings.TrimSpace(line) + ", in whose place the release writes its own")
		}
		text = strings.Replace(text, line, strings.Replace(line, "0.0.0", t.Version, 1), 1)
	}
	made := filepath.Join(t.work, "Chart.yaml")
	if err := os.WriteFile(made, []byte(text), 0o644); err != nil {
		return err
	}
	ignored, err := os.ReadFile(filepath.Join(from, ".helmignore"))
	if err != nil {
		return err
	}
	files := []file{{name: "Chart.yaml", from: made}}
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.Contains(string(ignored), "\n/"+filepath.ToSlash(name)+"/\n"): // what is for tests
			return filepath.SkipDir
		case d.IsDir() || name == "Chart.yaml":
			return nil
		}
		files = append(files, file{name: filepath.ToSlash(name), from: path})
		return nil
	})
	if err != nil {
		return err
	}
	return archive(filepath.Join(t.Out, "fairlead-"+t.Version+".tgz"), "fairlead", files, t.date)
}
