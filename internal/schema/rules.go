package schema

import (
	"regexp/syntax"
	"strings"

	"github.com/envoyproxy/protoc-gen-validate/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// rules are those of one value: a message such as StringRules, or none. They are read by their
// names, which all of these messages share. What JSON Schema cannot say is left out.
type rules struct{ m protoreflect.Message }

func rulesOf(fd protoreflect.FieldDescriptor) rules {
	if md, ok := fd.Parent().(protoreflect.MessageDescriptor); ok && ignored(md) {
		return rules{}
	}
	all, _ := proto.GetExtension(fd.Options(), validate.E_Rules).(*validate.FieldRules)
	return only(all)
}

// only is the one kind of rules that a field has.
func only(all *validate.FieldRules) rules {
	if all == nil {
		return rules{}
	}
	m := all.ProtoReflect()
	fd := m.WhichOneof(m.Descriptor().Oneofs().ByName("type"))
	if fd == nil {
		return rules{}
	}
	return rules{m.Get(fd).Message()}
}

// ignored holds of a message whose rules do not count.
func ignored(md protoreflect.MessageDescriptor) bool {
	off, _ := proto.GetExtension(md.Options(), validate.E_Disabled).(bool)
	none, _ := proto.GetExtension(md.Options(), validate.E_Ignored).(bool)
	return off || none
}

func oneofRequired(o protoreflect.OneofDescriptor) bool {
	must, _ := proto.GetExtension(o.Options(), validate.E_Required).(bool)
	return must
}

// get is false where there is no such rule.
func (r rules) get(name protoreflect.Name) (protoreflect.Value, bool) {
	if r.m == nil {
		return protoreflect.Value{}, false
	}
	fd := r.m.Descriptor().Fields().ByName(name)
	if fd == nil || !r.m.Has(fd) {
		return protoreflect.Value{}, false
	}
	return r.m.Get(fd), true
}

// emptyIsGood: what is empty is not looked at.
func (r rules) emptyIsGood() bool {
	v, there := r.get("ignore_empty")
	return there && v.Bool()
}

// sub are the rules of what a list or a map holds.
func (r rules) sub(name protoreflect.Name) rules {
	v, there := r.get(name)
	if !there {
		return rules{}
	}
	all, _ := v.Message().Interface().(*validate.FieldRules)
	return only(all)
}

// count writes a number of a rule, unless the rule lets what is empty be.
func (r rules) count(out object, name protoreflect.Name, keyword string) {
	if v, there := r.get(name); there && !r.emptyIsGood() {
		out[keyword] = v.Uint()
	}
}

// number writes the bounds of a number. Bounds that are the wrong way round mean what is outside.
func (r rules) number(out object) {
	if r.emptyIsGood() {
		return
	}
	low, lowBound, hasLow := r.bound("gte", "minimum", "gt", "exclusiveMinimum")
	high, highBound, hasHigh := r.bound("lte", "maximum", "lt", "exclusiveMaximum")
	if hasLow && hasHigh && float(low) > float(high) {
		return
	}
	if hasLow {
		out[lowBound] = low.Interface()
	}
	if hasHigh {
		out[highBound] = high.Interface()
	}
}

func (r rules) bound(with protoreflect.Name, keyword string, without protoreflect.Name, exclusive string) (protoreflect.Value, string, bool) {
	if v, there := r.get(with); there {
		return v, keyword, true
	}
	v, there := r.get(without)
	return v, exclusive, there
}

func float(v protoreflect.Value) float64 {
	switch n := v.Interface().(type) {
	case int32:
		return float64(n)
	case int64:
		return float64(n)
	case uint32:
		return float64(n)
	case uint64:
		return float64(n)
	case float32:
		return float64(n)
	}
	return v.Float()
}

// text writes the rules of a text. A bound in bytes is one in characters where that says less.
func (r rules) text(out object) {
	r.count(out, "min_len", "minLength")
	r.count(out, "max_bytes", "maxLength")
	r.count(out, "max_len", "maxLength")
	if v, there := r.get("min_bytes"); there && v.Uint() > 0 && !r.emptyIsGood() {
		out["minLength"] = 1
	}
	if v, there := r.get("pattern"); there && !r.emptyIsGood() && portable(v.String()) {
		out["pattern"] = v.String() + "|" + placeholder
	}
	if in, there := r.get("in"); there && !r.emptyIsGood() {
		var each []object
		for i := range in.List().Len() {
			each = append(each, object{"const": in.List().Get(i).String()})
		}
		out["anyOf"] = append(each, object{"pattern": placeholder})
	}
}

// portable holds of an expression that means the same in a browser: it has none of the words that are RE2's alone.
func portable(pattern string) bool {
	_, err := syntax.Parse(pattern, syntax.Perl)
	return err == nil && !strings.Contains(pattern, "(?") && !strings.Contains(pattern, `\C`) && !strings.Contains(pattern, "[[:") &&
		!strings.Contains(pattern, `\x{`) && !strings.Contains(pattern, `\z`) && !strings.Contains(pattern, `\A`) && !strings.Contains(pattern, `\p`)
}

// required holds of a field that must be set: because a rule says so, or because what it has unset breaks one. Of a
// oneof's the rules count for the one that is set.
func required(fd protoreflect.FieldDescriptor) bool {
	if fd.ContainingOneof() != nil {
		return false
	}
	all, _ := proto.GetExtension(fd.Options(), validate.E_Rules).(*validate.FieldRules)
	if all.GetMessage().GetRequired() {
		return true
	}
	r := only(all)
	if v, there := r.get("required"); there && v.Bool() {
		return true
	}
	if fd.Message() != nil && !fd.IsMap() && !fd.IsList() || r.emptyIsGood() {
		return false
	}
	for _, name := range []protoreflect.Name{"min_len", "min_bytes", "min_items", "min_pairs", "gt", "gte"} {
		if v, there := r.get(name); there && positive(v, name == "gt") {
			return true
		}
	}
	return false
}

// positive holds of a bound that zero breaks.
func positive(v protoreflect.Value, exclusive bool) bool {
	var n float64
	switch x := v.Interface().(type) {
	case protoreflect.Message:
		return false // of a Duration
	case float64:
		n = x
	default:
		n = float(v)
	}
	return n > 0 || exclusive && n == 0
}
