// Pack puts the built page into one archive, which the servers embed. An archive that has the same files already is left as it is, so that
// it changes with its content alone.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: pack FOLDER ARCHIVE")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func pack(folder, archive string) error {
	files, err := read(os.DirFS(folder))
	if err != nil {
		return err
	}
	if old, err := sums(archive); err == nil && maps.Equal(old, sumsOf(files)) {
		return nil
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate}) // no time: the same files are the same archive
		if err != nil {
			return fmt.Errorf("add %s: %w", name, err)
		}
		if _, err := to.Write(files[name]); err != nil {
			return fmt.Errorf("add %s: %w", name, err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("end the archive: %w", err)
	}
	if err := os.WriteFile(archive, out.Bytes(), 0o644); err != nil { //nolint:gosec // it is committed, for everybody
		return fmt.Errorf("write the archive: %w", err)
	}
	return nil
}

func read(folder fs.FS) (map[string][]byte, error) {
	files := make(map[string][]byte)
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(folder, name)
		return err
	})
	if err == nil && files["index.html"] == nil {
		err = errors.New("there is no index.html: build the page first")
	}
	if err != nil {
		return nil, fmt.Errorf("read the built page: %w", err)
	}
	return files, nil
}

func sumsOf(files map[string][]byte) map[string]uint32 {
	all := make(map[string]uint32, len(files))
	for name, body := range files {
		all[name] = crc32.ChecksumIEEE(body)
	}
	return all
}

func sums(archive string) (map[string]uint32, error) {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return nil, fmt.Errorf("open the archive: %w", err)
	}
	defer func() { _ = r.Close() }()
	all := make(map[string]uint32, len(r.File))
	for _, f := range r.File {
		all[f.Name] = f.CRC32
	}
	return all, nil
}
