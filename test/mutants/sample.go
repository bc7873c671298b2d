package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// seed chooses a sample: the same one for the same commit.
type seed struct {
	of  string // what it was made of, in words
	sum [sha256.Size]byte
}

func (s seed) String() string { return s.of }

// seedOf is the seed of the commit or, in a tree without git, of the patches and the files
// that they break.
func seedOf(ctx context.Context, root string, ms []mutant) (seed, error) {
	git := exec.CommandContext(ctx, "git", "rev-parse", "--show-cdup", "HEAD")
	git.Dir = root
	if out, err := git.Output(); err == nil {
		// The first line leads to the top of the working tree: it is empty at the top. A tree
		// inside of another one has no commit of its own.
		if up, commit, _ := strings.Cut(string(out), "\n"); up == "" {
			commit = strings.TrimSpace(commit)
			return seed{"commit " + commit, sha256.Sum256([]byte(commit))}, nil
		}
	}
	var files []string
	for _, m := range ms {
		for _, name := range m.touched {
			files = append(files, filepath.Join(root, name))
		}
		files = append(files, m.file)
	}
	slices.Sort(files)
	var content bytes.Buffer
	for _, name := range slices.Compact(files) {
		text, err := os.ReadFile(name)
		if err != nil {
			return seed{}, err
		}
		sum := sha256.Sum256(text)
		content.Write(sum[:])
	}
	sum := sha256.Sum256(content.Bytes())
	return seed{fmt.Sprintf("content %x", sum), sum}, nil
}

// sample returns n of the mutants, in their order: over many seeds each as often as any other.
func sample(ms []mutant, n int, s seed) []mutant {
	dice := rand.New(rand.NewPCG(binary.BigEndian.Uint64(s.sum[:8]), binary.BigEndian.Uint64(s.sum[8:16])))
	at := dice.Perm(len(ms))[:min(n, len(ms))]
	slices.Sort(at)
	picked := make([]mutant, len(at))
	for i, j := range at {
		picked[i] = ms[j]
	}
	return picked
}
