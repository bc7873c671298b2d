package resource

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"fairlead/internal/fleet"
)

// Envoy reads proto3 JSON with a parser that takes more forms than the specification has: one element where a list belongs, names of
// enums in any case, booleans and numbers as texts, a duration as an object. Where shape meets one of them, it writes the node anew, in
// the form that every parser takes; what Envoy refuses is refused.

// becomes writes a scalar over the node. It stays where it was sent.
func (s *shape) becomes(n *node, k kind, text string) {
	*n = node{kind: k, start: n.start, end: n.end, text: text, fresh: true}
	s.changed = true
}

// unset writes the value of a field that is not set over a null: within a list or a map Envoy takes a null for one.
func (s *shape) unset(fd protoreflect.FieldDescriptor, n *node) {
	switch fd.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		s.becomes(n, kindObject, "")
	case protoreflect.StringKind, protoreflect.BytesKind:
		s.becomes(n, kindString, "")
	case protoreflect.BoolKind:
		s.becomes(n, kindBool, "false")
	default:
		s.becomes(n, kindNumber, "0")
	}
}

// element prepares what stands in a list or a map.
func (s *shape) element(fd protoreflect.FieldDescriptor, n *node) *node {
	if n.kind == kindNull && !takesNull(fd) {
		s.unset(fd, n)
	}
	return n
}

// asList makes a list of what stands where one belongs: of one element, and of lists in each other.
func (s *shape) asList(fd protoreflect.FieldDescriptor, n *node) bool {
	nests := fd.Message() != nil && (fd.Message().FullName() == "google.protobuf.Value" || fd.Message().FullName() == "google.protobuf.ListValue")
	switch {
	case n.kind == kindArray:
		if !nests && slices.ContainsFunc(n.items, func(item *node) bool { return item.kind == kindArray }) {
			n.items = flat(nil, n.items)
			s.changed = true
		}
		return true
	case n.kind == kindNull || !couldBe(fd, n):
		return false
	}
	one := *n
	*n = node{kind: kindArray, start: n.start, end: n.end, items: []*node{&one}, lone: true}
	s.changed = true
	return true
}

func flat(out, items []*node) []*node {
	for _, item := range items {
		if item.kind == kindArray {
			out = flat(out, item.items)
		} else {
			out = append(out, item)
		}
	}
	return out
}

// couldBe reports whether a value has the form of an element, so that what is wrong with it is told of the element.
func couldBe(fd protoreflect.FieldDescriptor, n *node) bool {
	if fd.Message() == nil {
		return n.kind != kindObject
	}
	if _, special := wellKnown[fd.Message().FullName()]; special {
		return true
	}
	return n.kind == kindObject
}

// boolean takes the texts that Envoy takes for true and false.
func (s *shape) boolean(n *node) bool {
	if n.kind == kindBool {
		return true
	}
	if n.kind != kindString {
		return false
	}
	switch strings.ToLower(n.text) {
	case "true", "t", "yes", "y", "1":
		s.becomes(n, kindBool, "true")
	case "false", "f", "no", "n", "0":
		s.becomes(n, kindBool, "false")
	default:
		return false
	}
	return true
}

var (
	decimalText = regexp.MustCompile(`^[-+]?[0-9]+$`)
	floatText   = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	hexText     = regexp.MustCompile(`^[-+]?0[xX][0-9a-fA-F]{1,16}$`)
)

// maxNumberText is how long a number in a text may be that is not in JSON's own form.
const maxNumberText = 100

// plainNumber is a number that JSON has no form for, as JSON writes it: 080, +5, .5, 0x50.
func plainNumber(text string) (string, bool) {
	if len(text) > maxNumberText {
		return "", false
	}
	sign, digits := "", strings.TrimPrefix(text, "+")
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	switch {
	case decimalText.MatchString(text):
		if digits = strings.TrimLeft(digits, "0"); digits == "" {
			return "0", true
		}
		return sign + digits, true
	case hexText.MatchString(text):
		v, err := strconv.ParseUint(digits[2:], 16, 64)
		return sign + strconv.FormatUint(v, 10), err == nil
	case floatText.MatchString(text):
		v, err := strconv.ParseFloat(sign+digits, 64)
		if err != nil || math.IsInf(v, 0) {
			return "", false
		}
		if v == math.Trunc(v) && math.Abs(v) < exactMost {
			return strconv.FormatFloat(v, 'f', -1, 64), true
		}
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}

// whole takes the forms of a whole number in a text.
func (s *shape) whole(n *node, least, most float64) bool {
	if wholeNumber(n, least, most) {
		if n.kind == kindString && !plainFloat.MatchString(n.text) { // it has a + or zeros before it, which not every parser takes
			if text, ok := plainNumber(n.text); ok {
				s.becomes(n, kindNumber, text)
			}
		}
		return true
	}
	return n.kind == kindString && s.number(n, func(plain *node) bool { return wholeNumber(plain, least, most) }, n.text)
}

// real takes the forms of a number in a text, with space around it.
func (s *shape) real(n *node, bits int) bool {
	if realNumber(n, bits) {
		return true
	}
	return n.kind == kindString && s.number(n, func(plain *node) bool { return realNumber(plain, bits) }, strings.TrimSpace(n.text))
}

func (s *shape) number(n *node, fits func(*node) bool, text string) bool {
	text, ok := plainNumber(text)
	if ok = ok && fits(&node{kind: kindNumber, text: text}); ok {
		s.becomes(n, kindNumber, text)
	}
	return ok
}

// asText takes a number for the text as which it is written. Whole numbers of 32 bits Envoy refuses where a text belongs; the others its
// reader of YAML takes for texts.
func (s *shape) asText(n *node) bool {
	if n.kind == kindString {
		return true
	}
	if n.kind != kindNumber {
		return false
	}
	if v, err := strconv.ParseInt(n.text, 10, 64); err == nil && v >= math.MinInt32 && v <= math.MaxInt32 {
		return false
	}
	s.becomes(n, kindString, n.text)
	return true
}

// enumName takes the name of an enum's value in any case, and its number in a text.
func (s *shape) enumName(ed protoreflect.EnumDescriptor, n *node) bool {
	if n.kind != kindString {
		return false
	}
	if ed.Values().ByName(protoreflect.Name(n.text)) != nil {
		return true
	}
	if name := protoreflect.Name(strings.ToUpper(n.text)); ed.Values().ByName(name) != nil {
		s.becomes(n, kindString, string(name))
		return true
	}
	for i := range ed.Values().Len() {
		if name := string(ed.Values().Get(i).Name()); strings.EqualFold(name, n.text) {
			s.becomes(n, kindString, name)
			return true
		}
	}
	if text, ok := plainNumber(n.text); ok && decimalText.MatchString(n.text) && wholeNumber(&node{kind: kindNumber, text: text}, math.MinInt32, math.MaxInt32) {
		s.becomes(n, kindNumber, text)
		return true
	}
	return false
}

// wrapped takes the value out of {value: 5}, as a wrapper may be written too.
func (s *shape) wrapped(md protoreflect.MessageDescriptor, n *node, at *path) bool {
	if n.kind != kindObject {
		return true
	}
	if len(s.members(md, n, at)) > 0 {
		return false
	}
	value := n.get("value")
	if value == nil || value.kind == kindNull {
		s.unset(md.Fields().ByNumber(1), n)
		return true
	}
	*n = *value
	s.changed = true
	return true
}

// members tells of the members of an object that the message does not have, and returns them.
func (s *shape) members(md protoreflect.MessageDescriptor, n *node, at *path) (unknown []string) {
	for i := range n.members {
		if key := n.members[i].key; fieldByKey(md, key) == nil {
			s.unknownField(md, key, at)
			unknown = append(unknown, key)
		}
	}
	return unknown
}

// moment reads {seconds: 5, nanos: 5}, as a duration and a time may be written too. ok is false where it is said what is wrong.
func (s *shape) moment(md protoreflect.MessageDescriptor, n *node, at *path) (secs, nanos int64, ok bool) {
	before := len(s.errs)
	s.members(md, n, at)
	read := func(field protoreflect.Name) int64 {
		v := n.get(string(field))
		if v == nil || v.kind == kindNull {
			return 0
		}
		s.scalar(md.Fields().ByName(field), v, at.member(string(field)))
		f, err := strconv.ParseFloat(v.text, 64) // what is beyond exactMost is no duration and no time
		if err != nil || len(s.errs) > before {
			return 0
		}
		return int64(max(-exactMost, min(f, exactMost)))
	}
	secs, nanos = read("seconds"), read("nanos")
	return secs, nanos, len(s.errs) == before
}

// durationObject writes a duration that is an object as a text.
func (s *shape) durationObject(md protoreflect.MessageDescriptor, n *node, at *path) {
	const second = int64(time.Second)
	secs, nanos, ok := s.moment(md, n, at)
	switch {
	case !ok:
		return
	case secs > maxSeconds || secs < -maxSeconds || nanos >= second || nanos <= -second || secs > 0 && nanos < 0 || secs < 0 && nanos > 0:
		s.add(at, codeWrongType, `seconds and nanos make no duration: write it as a text, such as "30s" or "0.25s"`)
		return
	}
	sign := ""
	if secs < 0 || nanos < 0 {
		sign, secs, nanos = "-", -secs, -nanos
	}
	text := sign + strconv.FormatInt(secs, 10)
	if nanos > 0 {
		text += "." + strings.TrimRight(strconv.FormatInt(second+nanos, 10)[1:], "0")
	}
	s.becomes(n, kindString, text+"s")
}

// leadingZeros are before the seconds of a duration that Envoy takes all the same.
var leadingZeros = regexp.MustCompile(`^(-?)0+([0-9])`)

// knownURL is a type URL as Fairlead writes it: Envoy takes any host before the name of the message, and TypedStruct under its older name.
func knownURL(url string) string {
	i := strings.LastIndexByte(url, '/')
	if i <= 0 {
		return url
	}
	name := url[i+1:]
	if name == "udpa.type.v1.TypedStruct" {
		name = "xds.type.v3.TypedStruct"
	}
	return fleet.URLPrefix + name
}

// written is the tree as JSON, without the "@type" of the outermost object.
func written(root *node, in []byte) []byte {
	var out bytes.Buffer
	root.write(&out, in, true)
	return out.Bytes()
}

func (n *node) write(out *bytes.Buffer, in []byte, outermost bool) {
	switch {
	case n.kind == kindArray:
		out.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				out.WriteByte(',')
			}
			item.write(out, in, false)
		}
		out.WriteByte(']')
	case n.kind == kindObject:
		out.WriteByte('{')
		some := false
		for i := range n.members {
			m := &n.members[i]
			if outermost && m.key == "@type" {
				continue
			}
			if some {
				out.WriteByte(',')
			}
			some = true
			out.WriteString(jsonText(m.key))
			out.WriteByte(':')
			m.value.write(out, in, false)
		}
		out.WriteByte('}')
	case !n.fresh:
		out.Write(n.raw(in))
	case n.kind == kindString:
		out.WriteString(jsonText(n.text))
	default:
		out.WriteString(n.text)
	}
}
