package main

import "bytes"

// piece is one document of a YAML text, with its markers.
type piece struct {
	line int // where it starts, from 1
	text []byte
}

// splitYAML cuts a text into its documents, at the lines that begin with --- or ...: in
// YAML these end a document wherever they stand, in a block of text too. Every byte of
// the text but a byte order mark before a document is in one piece, and a piece that holds only comments is left out.
func splitYAML(in []byte) []piece {
	s := splitter{line: 1}
	for number := 1; len(in) > 0; number++ {
		line := in
		if i := bytes.IndexByte(in, '\n'); i >= 0 {
			line = in[:i+1]
		}
		in = in[len(line):]
		if rest, marked := bytes.CutPrefix(line, bom); marked && (!s.content || marks(rest, "---")) {
			line = rest // files that were put one after the other have it before each
		}
		s.add(line, number)
	}
	s.cut(0)
	return s.out
}

type splitter struct {
	out     []piece
	line    int
	text    []byte
	begun   bool // its --- was there
	content bool // it holds more than markers and comments
}

func (s *splitter) add(line []byte, number int) {
	switch {
	case marks(line, "---"):
		if s.begun || s.content && !s.directives() {
			s.cut(number)
		}
		s.begun = true
		s.content = s.content || !blank(line[3:])
	case marks(line, "..."):
		s.text = append(s.text, line...)
		s.cut(number + 1)
		return
	case !blank(line):
		s.content = true
	}
	s.text = append(s.text, line...)
}

// cut ends the piece; the next one starts at the line.
func (s *splitter) cut(line int) {
	if s.content {
		s.out = append(s.out, piece{s.line, s.text})
	}
	*s = splitter{out: s.out, line: line}
}

// directives reports whether the piece holds nothing but %YAML and the like: they belong
// to the document that follows.
func (s *splitter) directives() bool {
	for line := range bytes.Lines(s.text) {
		if !blank(line) && line[0] != '%' {
			return false
		}
	}
	return true
}

// marks reports whether a line begins with a marker that nothing but space follows directly.
func marks(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// blank reports whether there is nothing but a comment. YAML has other ends of a line
// than this splitter; where one of them stands, the parser has to say.
func blank(line []byte) bool {
	line = bytes.TrimLeft(bytes.TrimRight(line, "\r\n"), " \t")
	return len(line) == 0 || line[0] == '#' && !bytes.ContainsAny(line, "\r\u0085\u2028\u2029")
}
