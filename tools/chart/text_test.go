package chart

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
)

func newBuffered(text string) *bufio.Reader { return bufio.NewReader(strings.NewReader(text)) }

// stripComments is what is left of a document without its comments.
func stripComments(doc []byte) []byte {
	var kept [][]byte
	for line := range bytes.Lines(doc) {
		if l := bytes.TrimSpace(line); !bytes.HasPrefix(l, []byte("#")) && !bytes.Equal(l, []byte("---")) {
			kept = append(kept, line)
		}
	}
	return bytes.Join(kept, nil)
}

func intText(n int32) string { return strconv.Itoa(int(n)) }
