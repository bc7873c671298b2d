package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/audit"
)

// readHeads reads the heads in a log, of either format, whose other lines it passes by, in batches as a collector gets them, or alone.
func readHeads(path string) (out []audit.Head, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if h, ok := textHead(lines.Text()); ok {
			out = append(out, h)
			continue
		}
		out = append(out, jsonHeads(lines.Bytes())...)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return out, nil
}

// jsonHeads are those of a line of JSON. Before each value may stand what syslog writes there; what cannot be read ends the line.
func jsonHeads(line []byte) (out []audit.Head) {
	for {
		i := bytes.IndexByte(line, '{')
		if i < 0 {
			return out
		}
		var l struct {
			audit.Head
			One  *audit.Head  `json:"head"` // of syslog
			Many []audit.Head `json:"heads"`
		}
		d := json.NewDecoder(bytes.NewReader(line[i:]))
		if d.Decode(&l) != nil {
			return out
		}
		if l.Signature != (audit.Hash{}) {
			out = append(out, l.Head)
		}
		if l.One != nil {
			out = append(out, *l.One)
		}
		out = append(out, l.Many...)
		line = line[int64(i)+d.InputOffset():]
	}
}

// textHead is the head of a log's line that is text: of the servers with --log-format text, and of "fairlead dev".
func textHead(line string) (h audit.Head, ok bool) {
	_, fields, ok := strings.Cut(line, ` msg="audit head" `)
	if !ok {
		return h, false
	}
	for word := range strings.FieldsSeq(fields) {
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch key {
		case "tenant_id":
			h.Tenant = value
		case "seq":
			h.Seq, err = strconv.ParseInt(value, 10, 64)
		case "hash":
			err = h.Hash.UnmarshalText([]byte(value))
		case "at":
			h.At, err = time.Parse(time.RFC3339Nano, value)
		case "anchor_seq":
			h.Anchor, err = strconv.ParseInt(value, 10, 64)
		case "unchained":
			h.Unchained, err = strconv.ParseInt(value, 10, 64)
		case "signature":
			err = h.Signature.UnmarshalText([]byte(value))
		}
		if err != nil {
			return h, false
		}
	}
	return h, h.Signature != (audit.Hash{})
}
