package resource

import (
	"encoding/base64"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// scalar checks a value against a field that is not a message.
func (s *shape) scalar(fd protoreflect.FieldDescriptor, n *node, at *path) {
	ok, want := true, ""
	switch fd.Kind() {
	case protoreflect.EnumKind:
		s.enum(fd.Enum(), n, at)
	case protoreflect.BoolKind:
		ok, want = s.boolean(n), "true or false"
	case protoreflect.StringKind:
		ok, want = s.asText(n), "a text"
	case protoreflect.BytesKind:
		ok, want = n.kind == kindString && isBase64(n.text), "bytes as a base64 text"
	case protoreflect.FloatKind:
		ok, want = s.real(n, 32), "a number"
	case protoreflect.DoubleKind:
		ok, want = s.real(n, 64), "a number"
	default:
		if r, known := integers[fd.Kind()]; known {
			ok, want = s.whole(n, r.least, r.most), "a whole number "+r.words
		}
	}
	if !ok {
		s.wrong(n, at, want)
	}
}

// integers is what each kind of a whole number holds.
var integers = map[protoreflect.Kind]struct {
	least, most float64
	words       string
}{
	protoreflect.Int32Kind:    {math.MinInt32, math.MaxInt32, "from -2147483648 to 2147483647"},
	protoreflect.Sint32Kind:   {math.MinInt32, math.MaxInt32, "from -2147483648 to 2147483647"},
	protoreflect.Sfixed32Kind: {math.MinInt32, math.MaxInt32, "from -2147483648 to 2147483647"},
	protoreflect.Uint32Kind:   {0, math.MaxUint32, "from 0 to 4294967295"},
	protoreflect.Fixed32Kind:  {0, math.MaxUint32, "from 0 to 4294967295"},
	protoreflect.Int64Kind:    {math.MinInt64, math.MaxInt64, "of 64 bits"},
	protoreflect.Sint64Kind:   {math.MinInt64, math.MaxInt64, "of 64 bits"},
	protoreflect.Sfixed64Kind: {math.MinInt64, math.MaxInt64, "of 64 bits"},
	protoreflect.Uint64Kind:   {0, math.MaxUint64, "of 64 bits, not below zero"},
	protoreflect.Fixed64Kind:  {0, math.MaxUint64, "of 64 bits, not below zero"},
}

// wrong says what belongs here, and what stands here unless that may be a secret.
func (s *shape) wrong(n *node, at *path, want string) {
	const longest = 64
	got := n.text
	switch {
	case s.hide || n.kind >= kindArray || n.kind == kindNull || len(n.text) > longest:
		got = s.kindOf(n)
	case n.kind == kindString:
		got = strconv.Quote(got)
	}
	s.add(at, codeWrongType, "this must be %s, not %s%s", want, got, unquoted(n.kind, want))
}

// unquoted says what makes a text of something that stands without quotes.
func unquoted(k kind, want string) string {
	switch {
	case want == "a text" && k == kindBool:
		return ": in YAML y, n, yes, no, on and off are true and false, and a text in quotes"
	case want == "a text" && k == kindNumber:
		return ": write it in quotes"
	}
	return ""
}

func (s *shape) kindOf(n *node) string {
	if n.kind == kindString {
		return "this text"
	}
	return n.kind.String()
}

// wholeNumber follows protobuf's decoder: 5, "5", 5.0 and 5e0 are the same number.
func wholeNumber(n *node, least, most float64) bool {
	if n.kind != kindNumber && n.kind != kindString {
		return false
	}
	if least < 0 {
		if v, err := strconv.ParseInt(n.text, 10, 64); err == nil {
			return float64(v) >= least && float64(v) <= most
		}
	} else if v, err := strconv.ParseUint(n.text, 10, 64); err == nil {
		return float64(v) <= most
	}
	if !plainFloat.MatchString(n.text) {
		return false
	}
	v, err := strconv.ParseFloat(n.text, 64)
	return err == nil && v == math.Trunc(v) && v >= least && (v < most || v == most && most < exactMost) && (math.Abs(v) < exactMost || exactly(n.text, least))
}

// exactMost is up to where floating point tells whole numbers apart. Beyond, the limits of 64 bits are rounded as well: the upper ones to one more.
const exactMost = 1 << 53

// exactly reports whether a number that floating point rounds to a whole one not below least is one.
func exactly(text string, least float64) bool {
	const longest = 100 // longer ones are not worth their cost: protobuf's decoder refuses what is none
	if len(text) > longest {
		return true
	}
	v, _, err := big.ParseFloat(text, 10, 512, big.ToNearestEven)
	return err == nil && v.IsInt() && v.Cmp(big.NewFloat(least)) >= 0
}

// realNumber: NaN is none. It is neither below nor above anything, so it passes each range of Envoy's API. What is out of range would silently become infinite. The largest number of 32 bits is written with fewer digits than it has,
// which make more than it: what counts is what they are rounded to, as protobuf's decoder does.
func realNumber(n *node, bits int) bool {
	if n.kind == kindString && (n.text == "Infinity" || n.text == "-Infinity") {
		return true
	}
	if n.kind != kindNumber && (n.kind != kindString || !plainFloat.MatchString(n.text)) {
		return false
	}
	_, err := strconv.ParseFloat(n.text, bits)
	return err == nil
}

// isBase64 takes both alphabets, with and without padding, as protobuf's decoder does.
func isBase64(s string) bool {
	enc := base64.StdEncoding
	if strings.ContainsAny(s, "-_") {
		enc = base64.URLEncoding
	}
	if len(s)%4 != 0 {
		enc = enc.WithPadding(base64.NoPadding)
	}
	_, err := enc.DecodeString(s)
	return err == nil
}

func (s *shape) enum(ed protoreflect.EnumDescriptor, n *node, at *path) {
	if ed.FullName() == "google.protobuf.NullValue" && n.kind == kindNull {
		return
	}
	known := n.kind == kindNumber && wholeNumber(n, math.MinInt32, math.MaxInt32) ||
		s.enumName(ed, n)
	if known {
		s.grow(ed, n, at)
		return
	}
	if today := removedValues[ed.FullName()][strings.ToUpper(n.text)]; today != "" && n.kind == kindString {
		s.add(at, codeUnknownEnum, "Envoy's API has this value no more: write %s", today)
		return
	}
	const shown = 16
	var names []string
	for i := range min(ed.Values().Len(), shown) {
		names = append(names, string(ed.Values().Get(i).Name()))
	}
	if ed.Values().Len() > shown {
		names = append(names, "...")
	}
	s.add(at, codeUnknownEnum, "this is not one of %s", strings.Join(names, ", "))
}

// grow counts what an enum that is written as a number is longer when it is told, by its name: a list of them is a byte each as a message.
func (s *shape) grow(ed protoreflect.EnumDescriptor, n *node, at *path) {
	if n.kind != kindNumber || s.grown > maxGrowth {
		return
	}
	v, _ := strconv.ParseInt(n.text, 10, 32)
	name := ed.Values().ByNumber(protoreflect.EnumNumber(v))
	if name == nil {
		return
	}
	if s.grown += len(name.Name()) + len(`""`) - len(n.text); s.grown > maxGrowth {
		s.add(at, codeLimit, "the names of the values that are written as numbers here are more than %d KiB: write fewer of them", maxGrowth>>10)
	}
}

// wellKnown are the messages that have a JSON form of their own.
var wellKnown map[protoreflect.FullName]func(*shape, protoreflect.MessageDescriptor, *node, *path)

func init() { // not a literal: the checks refer to the table
	wellKnown = map[protoreflect.FullName]func(*shape, protoreflect.MessageDescriptor, *node, *path){
		"google.protobuf.Any":         (*shape).any,
		"google.protobuf.Duration":    (*shape).duration,
		"google.protobuf.Timestamp":   (*shape).timestamp,
		"google.protobuf.FieldMask":   (*shape).fieldMask,
		"google.protobuf.Empty":       (*shape).empty,
		"google.protobuf.Struct":      (*shape).object,
		"google.protobuf.ListValue":   (*shape).list,
		"google.protobuf.Value":       (*shape).free,
		"google.protobuf.BoolValue":   (*shape).wrapper,
		"google.protobuf.Int32Value":  (*shape).wrapper,
		"google.protobuf.Int64Value":  (*shape).wrapper,
		"google.protobuf.UInt32Value": (*shape).wrapper,
		"google.protobuf.UInt64Value": (*shape).wrapper,
		"google.protobuf.FloatValue":  (*shape).wrapper,
		"google.protobuf.DoubleValue": (*shape).wrapper,
		"google.protobuf.StringValue": (*shape).wrapper,
		"google.protobuf.BytesValue":  (*shape).wrapper,
	}
}

func (s *shape) wrapper(md protoreflect.MessageDescriptor, n *node, at *path) {
	if s.wrapped(md, n, at) {
		s.scalar(md.Fields().ByNumber(1), n, at)
	}
}

func (s *shape) duration(md protoreflect.MessageDescriptor, n *node, at *path) {
	if n.kind == kindObject {
		s.durationObject(md, n, at)
		return
	}
	if n.kind == kindString && leadingZeros.MatchString(n.text) {
		s.becomes(n, kindString, leadingZeros.ReplaceAllString(n.text, "$1$2"))
	}
	if _, _, ok := parseDuration(n.text); n.kind != kindString || !ok {
		s.wrong(n, at, `seconds, such as "30s" or "0.25s"`)
	}
}

func (s *shape) timestamp(md protoreflect.MessageDescriptor, n *node, at *path) {
	if n.kind == kindObject {
		if secs, nanos, ok := s.moment(md, n, at); ok {
			s.becomes(n, kindString, time.Unix(secs, nanos).UTC().Format(time.RFC3339Nano))
		} else {
			return
		}
	}
	if _, err := time.Parse(time.RFC3339Nano, n.text); n.kind != kindString || err != nil {
		s.wrong(n, at, `a time, such as "2030-01-02T03:04:05Z"`)
	}
}

func (s *shape) fieldMask(_ protoreflect.MessageDescriptor, n *node, at *path) {
	if n.kind != kindString {
		s.wrong(n, at, "field names with commas between them")
	}
}

func (s *shape) empty(md protoreflect.MessageDescriptor, n *node, at *path) {
	if n.kind != kindObject {
		s.wrong(n, at, "an empty object")
		return
	}
	for i := range n.members {
		s.unknownField(md, n.members[i].key, at)
	}
}

func (s *shape) object(md protoreflect.MessageDescriptor, n *node, at *path) {
	if n.kind != kindObject {
		s.wrong(n, at, "an object")
		return
	}
	s.free(md, n, at)
}

func (s *shape) list(md protoreflect.MessageDescriptor, n *node, at *path) {
	if n.kind != kindArray {
		s.wrong(n, at, "a list")
		return
	}
	s.free(md, n, at)
}

// free checks a value without a schema: anything but a number out of range.
func (s *shape) free(md protoreflect.MessageDescriptor, n *node, at *path) {
	if n.kind == kindNumber && !realNumber(n, 64) {
		s.wrong(n, at, "a number that fits into 64 bits of floating point")
	}
	for i := range n.members {
		s.free(md, n.members[i].value, at.member(n.members[i].key))
	}
	for i := range n.items {
		s.free(md, n.items[i], at.item(i))
	}
}

// maxSeconds is the range of google.protobuf.Duration: about 10,000 years.
const maxSeconds = 315_576_000_000

// parseDuration reads the form of a duration in proto3 JSON: seconds with at most nine
// decimals and an s.
func parseDuration(text string) (secs int64, nanos int32, ok bool) {
	text, ok = strings.CutSuffix(text, "s")
	if !ok {
		return 0, 0, false
	}
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	whole, fraction, dotted := strings.Cut(text, ".")
	if !plainInt.MatchString(whole) || strings.HasPrefix(whole, "-") || dotted && (fraction == "" || len(fraction) > 9) {
		return 0, 0, false
	}
	secs, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || secs > maxSeconds {
		return 0, 0, false
	}
	if dotted {
		n, err := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
		if err != nil {
			return 0, 0, false
		}
		nanos = int32(n)
	}
	if negative {
		secs, nanos = -secs, -nanos
	}
	return secs, nanos, true
}
