package planner

import (
	"reflect"
	"testing"
)

// TestPositionHasNoPadding: then a position is hashed and compared as one piece of memory, and not field by field, which costs several times as much for each
// message of each stream.
func TestPositionHasNoPadding(t *testing.T) {
	var plain func(typ reflect.Type) uintptr
	plain = func(typ reflect.Type) (size uintptr) {
		switch typ.Kind() {
		case reflect.Struct:
			for i := range typ.NumField() {
				size += plain(typ.Field(i).Type)
			}
		case reflect.Array:
			return uintptr(typ.Len()) * plain(typ.Elem()) //nolint:gosec // nine
		case reflect.String, reflect.Interface, reflect.Float32, reflect.Float64:
			t.Errorf("%s is not compared by its bytes", typ)
		default:
			return typ.Size()
		}
		if size != typ.Size() {
			t.Errorf("%s has %d bytes, its fields have %d: let padding fill what is between them", typ, typ.Size(), size)
		}
		return size
	}
	plain(reflect.TypeFor[stepKey]())
}
