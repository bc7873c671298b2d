package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// file is one of an archive. mode 0 is that of a text.
type file struct {
	name, from string
	mode       int64
}

// archive writes a .tar.gz that depends on nothing but what is in the files: in order of their names, of one time, owned by root.
func archive(path, folder string, files []file, date time.Time) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	zip := gzip.NewWriter(out)
	w := tar.NewWriter(zip)
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	for _, f := range files {
		if err := add(w, folder+"/"+f.name, f, date); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), zip.Close())
}

func add(w *tar.Writer, name string, f file, date time.Time) error {
	in, err := os.Open(f.from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	mode := f.mode
	if mode == 0 {
		mode = 0o644
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: mode, ModTime: date, Format: tar.FormatPAX}); err != nil {
		return err
	}
	_, err = io.Copy(w, in)
	return err
}
