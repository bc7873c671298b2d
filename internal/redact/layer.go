package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// layer is a text as it reads once its escapes are undone some times.
type layer struct {
	text  []byte
	at    []int // of each byte, where it begins in the original; and the end of that
	grams map[uint64][]int
	seen  [1 << 10]uint64 // a bit for each hash of a gram: most lookups end here
}

// gram is how much of a value gives it away, in bytes. What is as long in a text and in a
// value is a part of it.
const gram = 8

// maxEscaped is how many times a value may be escaped.
const maxEscaped = 2

func layers(text string) []*layer {
	first := &layer{text: []byte(text), at: make([]int, len(text)+1)}
	for i := range first.at {
		first.at[i] = i
	}
	all := []*layer{first}
	for range maxEscaped {
		last := all[len(all)-1]
		next := last.unescape()
		if len(next.text) == len(last.text) {
			break
		}
		all = append(all, next)
	}
	for _, l := range all {
		l.index()
	}
	return all
}

func (l *layer) index() {
	l.grams = make(map[uint64][]int, len(l.text))
	for i := 0; i+gram <= len(l.text); i++ {
		g := binary.LittleEndian.Uint64(l.text[i:])
		l.grams[g] = append(l.grams[g], i)
		h := hash(g)
		l.seen[h>>6] |= 1 << (h & 63)
	}
}

func hash(g uint64) uint64 { return g * 0x9E3779B97F4A7C15 >> 48 }

// find notes where the form of a value stands in the text. A long one is found in parts,
// each gram of the text once; of a short one the whole must stand as a word.
func (l *layer) find(form []byte, found []bool) {
	if len(form) < gram {
		l.findWord(form, found)
		return
	}
	for i := 0; i+gram <= len(form); i++ {
		g := binary.LittleEndian.Uint64(form[i:])
		if h := hash(g); l.seen[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		for _, from := range l.grams[g] {
			l.note(from, from+gram, found, true)
		}
		delete(l.grams, g)
	}
}

func (l *layer) findWord(word []byte, found []bool) {
	for from := 0; ; {
		i := bytes.Index(l.text[from:], word)
		if i < 0 {
			return
		}
		start, end := from+i, from+i+len(word)
		if (start == 0 || !inWord(l.text[start-1])) && (end == len(l.text) || !inWord(l.text[end])) {
			l.note(start, end, found, false)
		}
		from = start + 1
	}
}

// note marks a part of the layer in the original. wide: with the rest of the tokens at its
// ends, which may be more of the value, cut off or encoded with what stands beside it.
func (l *layer) note(from, to int, found []bool, wide bool) {
	if wide && inToken(l.text[from]) {
		for from > 0 && inToken(l.text[from-1]) && !found[l.at[from-1]] {
			from--
		}
	}
	if wide && inToken(l.text[to-1]) {
		for to < len(l.text) && inToken(l.text[to]) && !found[l.at[to]] {
			to++
		}
	}
	for i := l.at[from]; i < l.at[to]; i++ {
		found[i] = true
	}
}

func inWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b >= utf8.RuneSelf
}

// inToken takes both alphabets of base64.
func inToken(b byte) bool { return inWord(b) || strings.IndexByte("+/-_=", b) >= 0 }

// forms are a value as it is and as base64, alone and in the middle of other bytes.
func forms(value []byte) [][]byte {
	out := [][]byte{value}
	for before, whole := range []int{0, 2, 3} { // bytes before it, and digits that hold some of them
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before, before+len(value)), value...))
		if before > 0 || len(text) >= gram {
			text = text[whole : (before+len(value))*8/6] // the last digit may hold what follows
		}
		if len(text) < gram && before > 0 {
			continue
		}
		out = append(out, []byte(text))
		if strings.ContainsAny(text, "+/") {
			out = append(out, []byte(strings.NewReplacer("+", "-", "/", "_").Replace(text)))
		}
	}
	return out
}

// unescape undoes the escapes of C, JSON and protobuf's text format.
func (l *layer) unescape() *layer {
	out := &layer{text: make([]byte, 0, len(l.text)), at: make([]int, 0, len(l.at))}
	for i := 0; i < len(l.text); {
		read, n := l.text[i:i+1], 1
		if l.text[i] == '\\' {
			if b, taken := escape(l.text[i+1:]); taken > 0 {
				read, n = b, 1+taken
			}
		}
		for range read {
			out.at = append(out.at, l.at[i])
		}
		out.text = append(out.text, read...)
		i += n
	}
	out.at = append(out.at, l.at[len(l.text)])
	return out
}

var shortEscapes = map[byte]byte{
	'n': '\n', 'r': '\r', 't': '\t', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', '"': '"', '\'': '\'', '\\': '\\', '/': '/', '?': '?',
}

// escape reads what follows a backslash, and returns how many bytes that is; 0: no escape.
func escape(in []byte) (read []byte, taken int) {
	if len(in) == 0 {
		return nil, 0
	}
	if c, ok := shortEscapes[in[0]]; ok {
		return []byte{c}, 1
	}
	switch in[0] {
	case 'x', 'X':
		if v, n := number(in[1:], 16, 1, 2); n > 0 {
			return []byte{byte(v)}, 1 + n
		}
	case 'u':
		v, n := number(in[1:], 16, 4, 4)
		if low, m := lowSurrogate(in[1+n:]); n > 0 && m > 0 && utf16.IsSurrogate(rune(v)) {
			return utf8.AppendRune(nil, utf16.DecodeRune(rune(v), low)), 1 + n + m
		}
		if n > 0 {
			return utf8.AppendRune(nil, rune(v)), 1 + n
		}
	case 'U':
		if v, n := number(in[1:], 16, 8, 8); n > 0 {
			return utf8.AppendRune(nil, rune(v)), 1 + n
		}
	default:
		if v, n := number(in, 8, 1, 3); n > 0 {
			return []byte{byte(v)}, n
		}
	}
	return nil, 0
}

func lowSurrogate(in []byte) (rune, int) {
	if len(in) < 6 || in[0] != '\\' || in[1] != 'u' {
		return 0, 0
	}
	v, n := number(in[2:], 16, 4, 4)
	if n == 0 || v < 0xDC00 || v > 0xDFFF {
		return 0, 0
	}
	return rune(v), 2 + n
}

// number reads as many digits as there are, up to most; less than least is none.
func number(in []byte, base, least, most int) (v uint32, n int) {
	for n < most && n < len(in) {
		if _, err := strconv.ParseUint(string(in[n:n+1]), base, 8); err != nil {
			break
		}
		n++
	}
	if n < least {
		return 0, 0
	}
	u, err := strconv.ParseUint(string(in[:n]), base, 32)
	if err != nil {
		return 0, 0
	}
	return uint32(u), n
}
