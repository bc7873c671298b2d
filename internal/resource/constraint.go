package resource

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// constraints checks a message against the constraints of Envoy's API. They do not
// reach into an Any: walk calls this for each message that an Any holds.
func (r *report) constraints(m protoreflect.Message, n *node, at *path) {
	v, ok := m.Interface().(interface{ ValidateAll() error })
	if !ok {
		return // messages of protobuf itself have none
	}
	if err := v.ValidateAll(); err != nil {
		r.violation(err, m.Descriptor(), n, at)
	}
}

// violated is what every generated error of a constraint has. Its Reason is fixed text;
// its Error would hold more, so it is not used.
type violated interface {
	Field() string
	Reason() string
	Cause() error
}

// violation follows an error down the messages in which it is nested. md, n and at are
// those of the message that the error is about; md is nil once they cannot be followed.
func (r *report) violation(err error, md protoreflect.MessageDescriptor, n *node, at *path) {
	if all, ok := err.(interface{ AllErrors() []error }); ok {
		for _, e := range all.AllErrors() {
			if r.full() {
				return
			}
			r.violation(e, md, n, at)
		}
		return
	}
	var v violated
	if !errors.As(err, &v) {
		r.add(at, codeConstraint, "the value breaks a constraint of Envoy's API")
		return
	}
	inner, n, here, detail := locate(v.Field(), md, n, at)
	if cause := v.Cause(); cause != nil && nested(cause) {
		r.violation(cause, inner, n, here)
		return
	}
	if detail == "" {
		detail = v.Reason()
	}
	r.add(here, codeConstraint, "%s", detail)
}

func nested(err error) bool {
	if _, ok := err.(interface{ AllErrors() []error }); ok {
		return true
	}
	_, ok := err.(violated)
	return ok
}

// locate finds the field that a constraint calls by its Go name, such as
// "FilterChains[0]" or "Clusters[a.b]", or a oneof, whose place is the message and whose
// sentence lists what it takes.
func locate(goName string, md protoreflect.MessageDescriptor, n *node, at *path) (protoreflect.MessageDescriptor, *node, *path, string) {
	if md == nil {
		return nil, nil, at, ""
	}
	name, index, indexed := strings.Cut(goName, "[")
	index = strings.TrimSuffix(index, "]")
	if fd := fieldByGoName(md, name); fd != nil {
		value, here := child(fd, n, at)
		inner := fd.Message()
		if indexed && fd.IsList() {
			if i, err := strconv.Atoi(index); err == nil {
				value, here = value.itemAt(i, here)
			}
		} else if indexed && fd.IsMap() {
			value, here, inner = value.get(index), here.member(index), fd.MapValue().Message()
		}
		return inner, value, here, ""
	}
	for i := range md.Oneofs().Len() {
		if od := md.Oneofs().Get(i); plainName(string(od.Name())) == plainName(name) {
			return nil, nil, at, "one of these must be set: " + fieldNamesOf(od)
		}
	}
	return nil, nil, at, ""
}

func fieldByGoName(md protoreflect.MessageDescriptor, goName string) protoreflect.FieldDescriptor {
	want := plainName(goName)
	for i := range md.Fields().Len() {
		if fd := md.Fields().Get(i); plainName(string(fd.Name())) == want {
			return fd
		}
	}
	return nil
}

// plainName is what a field's proto name and its Go name have in common.
func plainName(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

func fieldNamesOf(od protoreflect.OneofDescriptor) string {
	var names []string
	for i := range od.Fields().Len() {
		names = append(names, od.Fields().Get(i).TextName())
	}
	return strings.Join(names, ", ")
}

func sortedKeys(m protoreflect.Map) []protoreflect.MapKey {
	keys := make([]protoreflect.MapKey, 0, m.Len())
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k)
		return true
	})
	slices.SortFunc(keys, func(a, b protoreflect.MapKey) int { return strings.Compare(a.String(), b.String()) })
	return keys
}
