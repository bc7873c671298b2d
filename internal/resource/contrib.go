package resource

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// IsContrib reports whether a message is of contrib: only some builds of Envoy know it.
func IsContrib(md protoreflect.MessageDescriptor) bool {
	return strings.HasPrefix(md.ParentFile().Path(), "contrib/")
}

// Contrib is that a resource holds the configuration of an extension of contrib.
type Contrib struct {
	Package protoreflect.FullName // of the API: a node tells by it what its build has
	Message protoreflect.FullName
	Pointer string // as Mention.Pointer
}

// contrib notes the configuration of an extension, of each package the first.
func (f *finder) contrib(md protoreflect.MessageDescriptor, at *path) {
	if !IsContrib(md) {
		return
	}
	pkg := md.ParentFile().Package()
	for _, had := range f.facts.Contrib {
		if had.Package == pkg {
			return
		}
	}
	pointer := at.String()
	if len(pointer) > pointersBase {
		pointer = "/body"
	}
	f.facts.Contrib = append(f.facts.Contrib, Contrib{pkg, md.FullName(), pointer})
}
