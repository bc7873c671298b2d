package planner

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/snapshot"
)

// jsonSize is about how many bytes of JSON one byte of a resource becomes.
const jsonSize = 4

// JSON is the response as a DiscoveryResponse in proto3 JSON, without a nonce. It is made once, shared by all who send the
// response, and must not be written to.
func (r *Response) JSON() ([]byte, error) {
	r.body.jsonOnce.Do(func() { r.body.json, r.body.jsonErr = r.encodeJSON() })
	return r.body.json, r.body.jsonErr
}

func (r *Response) encodeJSON() (b []byte, err error) {
	b = append(b, `{"version_info":"`+r.Version.String()+`","type_url":"`+r.Type.URL()+`","control_plane":{"identifier":"fairlead"},"resources":[`...)
	for i, x := range r.Resources {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendJSON(b, x); err != nil {
			return nil, fmt.Errorf("write %s %q as JSON: %w", r.Type, x.Name, err)
		}
	}
	return append(b, "]}"...), nil
}

func appendJSON(b []byte, x *snapshot.Resource) ([]byte, error) {
	message := &anypb.Any{}
	if err := proto.Unmarshal(x.Encoded(), message); err != nil {
		return nil, fmt.Errorf("decode it: %w", err)
	}
	return protojson.MarshalOptions{UseProtoNames: true}.MarshalAppend(b, message) //nolint:wrapcheck // encodeJSON says of what
}
