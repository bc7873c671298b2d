package resource

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

//go:embed guard_table.txt
var guardTable string

// table is what guard_table.txt says of every message of Envoy's API, and of each field that
// the proxy dials, reads or runs.
type table struct {
	packages map[protoreflect.FullName]judged // whole ones, of which a rule names every message
	messages map[protoreflect.FullName]judged
	fields   map[protoreflect.FullName]judgedField
}

// judged is the class of a message: data if rule is "".
type judged struct {
	rule Rule
	why  string
}

// fieldClass is what becomes of a field that is set.
type fieldClass string

const (
	classData      fieldClass = "data"
	classRule      fieldClass = "rule"      // a rule names it, or one value of it
	classLogPath   fieldClass = "log_path"  // judged by the allowed paths
	classDialled   fieldClass = "dialled"   // judged by where it leads
	classListens   fieldClass = "listens"   // an address to which the proxy does not connect
	classExtension fieldClass = "extension" // judged by the type of what it holds
	classMetadata  fieldClass = "metadata"  // of any form; nothing reads it as configuration
	classStateKey  fieldClass = "state_key" // judged by what reads the object of this name
	classPort      fieldClass = "port"      // of endpoints that stand elsewhere, and may be on the proxy's own machine
)

type judgedField struct {
	class fieldClass
	rule  Rule   // of classRule
	value string // of classRule: the one value of an enum that it names; "" is every one
	why   string
}

var judgements = sync.OnceValue(func() table {
	t, err := readTable(guardTable)
	if err != nil {
		panic(err.Error()) // it is part of the program, and a test reads it
	}
	return t
})

// readTable reads the text: a package stands at the margin, its messages are indented by two
// spaces, their fields by four. After a name comes its class, then the reason.
func readTable(text string) (table, error) {
	t := table{map[protoreflect.FullName]judged{}, map[protoreflect.FullName]judged{}, map[protoreflect.FullName]judgedField{}}
	var pkg, message protoreflect.FullName
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		words := strings.TrimLeft(line, " ")
		if words == "" || words[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(words, " ")
		class, why, _ := strings.Cut(rest, " ")
		var err error
		switch len(line) - len(words) {
		case 0:
			pkg, message = protoreflect.FullName(name), ""
			err = t.pkg(pkg, class, why)
		case 2:
			message = pkg + "." + protoreflect.FullName(name)
			err = t.message(message, class, why)
		case 4:
			err = t.field(message+"."+protoreflect.FullName(name), class, why)
		default:
			err = fmt.Errorf("indent by 0, 2 or 4 spaces")
		}
		if err != nil {
			return t, fmt.Errorf("guard_table.txt:%d: %w", n, err)
		}
	}
	return t, nil
}

func (t table) pkg(name protoreflect.FullName, class, why string) error {
	if class == "" {
		return nil // its messages are told one by one
	}
	if reasons[Rule(class)] == "" {
		return fmt.Errorf("%q is no rule: a package is as a whole what a rule names, or its messages are told one by one", class)
	}
	t.packages[name] = judged{Rule(class), why}
	return nil
}

func (t table) message(name protoreflect.FullName, class, why string) error {
	if _, twice := t.messages[name]; twice {
		return fmt.Errorf("%s stands here twice", name)
	}
	switch {
	case class == "" && t.packages[name.Parent()].rule != "": // here for its fields
	case class == string(classData):
		t.messages[name] = judged{"", why}
	case reasons[Rule(class)] != "":
		t.messages[name] = judged{Rule(class), why}
	default:
		return fmt.Errorf("%q is neither data nor a rule", class)
	}
	return nil
}

func (t table) field(name protoreflect.FullName, class, why string) error {
	if _, twice := t.fields[name]; twice {
		return fmt.Errorf("%s stands here twice", name)
	}
	rule, value, _ := strings.Cut(class, "=")
	switch f := fieldClass(class); {
	case reasons[Rule(rule)] != "":
		t.fields[name] = judgedField{classRule, Rule(rule), value, why}
	case f == classData, f == classLogPath, f == classDialled, f == classListens, f == classExtension, f == classMetadata, f == classStateKey, f == classPort:
		t.fields[name] = judgedField{class: f, why: why}
	default:
		return fmt.Errorf("%q is no class of a field", class)
	}
	return nil
}

// of is the class of a message. One that nobody has judged is unknown.
func (t table) of(md protoreflect.MessageDescriptor) judged {
	if j, ok := t.messages[md.FullName()]; ok {
		return j
	}
	if j, ok := t.packages[md.ParentFile().Package()]; ok {
		return j
	}
	return judged{RuleUnknown, "nobody has judged it"}
}
