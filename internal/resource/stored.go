package resource

import (
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
)

// CheckStored checks stored bytes as Compile checks the same content when it is sent:
// it may be older than a rule. Pointers lead into the body, in the names of the proto
// files. private is as in Document. A Secret cannot be checked again: its body is sealed. The error is Errors.
func (c *Compiler) CheckStored(t fleet.Type, name, variant string, value []byte, private []string) ([]Guarded, error) {
	if t == fleet.Secret {
		return nil, fail(nil, codeValue, "a stored Secret is sealed and cannot be checked")
	}
	m := newMessage(t)
	if err := proto.Unmarshal(value, m.Interface()); err != nil {
		return nil, fail(nil, codeValue, "the stored bytes are not a %s", t.Message())
	}
	out := Compiled{Document: Document{Type: t, Name: name, Variant: variant, bare: true}}
	if err := out.check(m, place{}, guard{logPaths: c.logPaths, privateClusters: private}); err != nil {
		return nil, err
	}
	return out.Guarded, nil
}
