package doctor

import (
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"fairlead/internal/auth"
)

func userAgent(v [3]uint32) *corev3.Node_UserAgentBuildVersion {
	return &corev3.Node_UserAgentBuildVersion{UserAgentBuildVersion: &corev3.BuildVersion{Version: &typev3.SemanticVersion{MajorNumber: v[0], MinorNumber: v[1], Patch: v[2]}}}
}

func generation() *structpb.Struct {
	s, err := structpb.NewStruct(map[string]any{"fairlead": map[string]any{"bootstrap": 2}, "note": "canary-of-metadata"})
	if err != nil {
		panic(err)
	}
	return s
}

func tokens() (node, api string) {
	_, node, _ = auth.NewNodeToken(time.Time{})
	_, api, _ = auth.NewAPIToken(auth.KindAPI)
	return node, api
}
