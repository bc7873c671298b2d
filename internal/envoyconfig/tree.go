package envoyconfig

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fairlead/internal/jsonpointer"
	"fairlead/internal/resource"
)

// object is a JSON object. Envoy takes its fields in snake_case and in camelCase; here
// they are asked for in the former.
type object = map[string]any

// place is where something stands in the text, as a chain to the root; nil is the whole.
type place struct {
	up   *place
	step string
	item bool // step is the number of an element
}

func (p *place) member(key string) *place { return &place{up: p, step: key} }

func (p *place) element(i int) *place { return &place{p, strconv.Itoa(i), true} }

// field is the name of the field in which it stands, alone or in a list.
func (p *place) field() string {
	for ; p != nil; p = p.up {
		if !p.item {
			return p.step
		}
	}
	return ""
}

// longestShown is how much of a field's name is told, in bytes: the same one may stand above each of many things.
const longestShown = 64

// name is the name of the field in snake_case, as it is told.
func (p *place) name() string {
	if f := p.field(); len(f) > longestShown {
		return strings.ToValidUTF8(resource.SnakeCase(f[:longestShown]), "") + "..."
	}
	return resource.SnakeCase(p.field())
}

// isField reports whether it stands in that field.
func (p *place) isField(field string) bool {
	f := p.field()
	return f == field || f == camel(field)
}

// String is the place as RFC 6901 has it.
func (p *place) String() string {
	if p == nil {
		return ""
	}
	return p.up.String() + "/" + jsonpointer.Escape(p.step)
}

// below is the place to which a pointer leads from here.
func (p *place) below(pointer string) *place {
	if pointer == "" {
		return p
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		p = p.member(jsonpointer.Unescape(step))
	}
	return p
}

// placed is an object with its place.
type placed struct {
	object
	at *place
}

// camel writes a field's name in the other way. It is asked for few names, for every object of a text.
func camel(field string) string {
	if known, ok := camels.Load(field); ok {
		return known.(string) //nolint:forcetypeassert // of texts alone
	}
	name := inCamel(field)
	camels.Store(field, name)
	return name
}

var camels sync.Map // by the name in snake_case; names that are in this package

func inCamel(field string) string {
	parts := strings.Split(field, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}

// spelled is the key by which an object has a field.
func spelled(o object, field string) string {
	if _, ok := o[field]; !ok {
		if other := camel(field); o[other] != nil {
			return other
		}
	}
	return field
}

func get(o object, field string) any { return o[spelled(o, field)] }

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

// list is a field that is a list. Envoy takes one element without a list around it, and lists in each other.
func list(o object, field string) []any { return flat(nil, get(o, field)) }

func flat(out []any, v any) []any {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, item := range v {
			out = flat(out, item)
		}
	default:
		out = append(out, v)
	}
	return out
}

// elements are the objects in a field that is a list.
func (p placed) elements(field string) (out []placed) {
	key := spelled(p.object, field)
	at := p.at.member(key)
	if c, ok := p.object[key].(object); ok {
		return []placed{{c, at}}
	}
	for i, v := range list(p.object, field) {
		if c, ok := v.(object); ok {
			out = append(out, placed{c, at.element(i)})
		}
	}
	return out
}

// child is a field that is an object.
func (p placed) child(field string) placed {
	return placed{child(p.object, field), p.at.member(spelled(p.object, field))}
}

// each calls f for every object of a tree, the outermost first.
func each(at *place, v any, f func(o placed)) {
	switch v := v.(type) {
	case object:
		f(placed{v, at})
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if nested(v[key]) {
				each(at.member(key), v[key], f)
			}
		}
	case []any:
		for i, item := range v {
			if nested(item) {
				each(at.element(i), item, f)
			}
		}
	}
}

// nested reports whether there may be an object in a value.
func nested(v any) bool {
	switch v.(type) {
	case object, []any:
		return true
	}
	return false
}
