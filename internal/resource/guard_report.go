package resource

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// WriteGuardReport writes what the guard rules say of every message of Envoy's API: a line
// for each, with its class and why, and below it the fields that are judged by themselves.
func WriteGuardReport(w io.Writer) error {
	t, b := judgements(), bufio.NewWriter(w)
	count := map[string]int{}
	for _, md := range t.api() {
		j := t.of(md)
		class := string(j.rule)
		if class == "" {
			class = string(classData)
		}
		count[class]++
		fmt.Fprintln(b, reportLine("", class, string(md.FullName()), j.why))
		for i := range md.Fields().Len() {
			fd := md.Fields().Get(i)
			if f, ok := t.fields[fd.FullName()]; ok {
				fmt.Fprintln(b, reportLine("  ", f.String(), "."+string(fd.Name()), f.why))
			}
		}
	}
	for _, r := range append([]Rule{Rule(classData)}, Rules()...) {
		fmt.Fprintf(b, "# %5d messages are %s\n", count[string(r)], r)
	}
	return b.Flush()
}

func reportLine(indent, class, name, why string) string {
	line := fmt.Sprintf("%s%-20s %s", indent, class, name)
	if why != "" {
		line += "  # " + why
	}
	return line
}

// String is the class as the table has it.
func (j judgedField) String() string {
	switch {
	case j.class != classRule:
		return string(j.class)
	case j.value != "":
		return string(j.rule) + "=" + j.value
	}
	return string(j.rule)
}

// api are the messages of Envoy's API that are linked in, and what else the table names, in the order of their names.
func (t table) api() (out []protoreflect.MessageDescriptor) {
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		md := mt.Descriptor()
		name := string(md.FullName())
		_, named := t.messages[md.FullName()]
		if named || strings.HasPrefix(name, "envoy.") || strings.HasPrefix(name, "xds.") || strings.HasPrefix(name, "udpa.") || IsContrib(md) {
			out = append(out, md)
		}
		return true
	})
	slices.SortFunc(out, func(a, b protoreflect.MessageDescriptor) int {
		return strings.Compare(string(a.FullName()), string(b.FullName()))
	})
	return out
}
