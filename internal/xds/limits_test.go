package xds_test

import (
	"strconv"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"fairlead/internal/xds/xdstest"
)

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

func manyVersions(n int) map[string]string {
	versions := map[string]string{}
	for _, name := range manyNames(n) {
		versions[name] = "1"
	}
	return versions
}

func heavyNode() *corev3.Node {
	n := xdstest.Envoy("n1")
	n.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{
		"weight": structpb.NewStringValue(strings.Repeat("x", 64<<10)),
	}}
	return n
}
