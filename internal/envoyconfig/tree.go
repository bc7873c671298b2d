package envoyconfig

import (
	"maps"
	"slices"
	"strings"
)

// object is a JSON object. Envoy takes its fields in snake_case and in camelCase; here
// they are asked for in the former.
type object = map[string]any

// camel writes a field's name in the other way.
func camel(field string) string {
	parts := strings.Split(field, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}

func get(o object, field string) any {
	if v, ok := o[field]; ok {
		return v
	}
	return o[camel(field)]
}

func has(o object, field string) bool { return get(o, field) != nil }

func set(o object, field string, value any) {
	drop(o, field)
	o[field] = value
}

func drop(o object, field string) {
	delete(o, field)
	delete(o, camel(field))
}

// child is a field that is an object; nil if it is none.
func child(o object, field string) object {
	c, _ := get(o, field).(object)
	return c
}

func text(o object, field string) string {
	s, _ := get(o, field).(string)
	return s
}

// children are the objects in a field that is a list.
func children(o object, field string) (out []object) {
	list, _ := get(o, field).([]any)
	for _, v := range list {
		if c, ok := v.(object); ok {
			out = append(out, c)
		}
	}
	return out
}

// each calls f for every object of a tree, the outermost first, with the field in which it
// stands.
func each(field string, v any, f func(field string, o object)) {
	switch v := v.(type) {
	case object:
		f(field, v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			each(key, v[key], f)
		}
	case []any:
		for _, item := range v {
			each(field, item, f)
		}
	}
}
