package resource

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"fairlead/internal/fleet"
	"fairlead/internal/redact"
)

// Render writes stored bytes as proto3 JSON, with the names of fields as Envoy's users
// write them (snake_case), without space, the same bytes every time. In the place of a key,
// a password or a token, which a resource may hold that was written before they were
// refused, stands redact.Mark. A Secret is never rendered: that is ErrForbidden.
func Render(t fleet.Type, value []byte) ([]byte, error) {
	if t == fleet.Secret {
		return nil, fmt.Errorf("the content of a Secret is never shown: %w", fleet.ErrForbidden)
	}
	m := newMessage(t)
	if err := proto.Unmarshal(value, m.Interface()); err != nil {
		return nil, fmt.Errorf("render %s: the stored bytes are not its message: %w", t, fleet.ErrInvalid)
	}
	redact.Blank(m)
	loose, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m.Interface())
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", t, fleet.ErrInvalid)
	}
	var out bytes.Buffer // protojson varies its space from build to build
	if err := json.Compact(&out, loose); err != nil {
		return nil, fmt.Errorf("render %s: %w", t, fleet.ErrInvalid)
	}
	return out.Bytes(), nil
}
