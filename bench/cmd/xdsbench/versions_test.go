package main

import (
	"os"
	"regexp"
	"testing"
)

// TestTheSameLibraries: the floor is a floor for a server that is built with the same gRPC.
func TestTheSameLibraries(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`(?m)^\t(google\.golang\.org/grpc|google\.golang\.org/protobuf|github\.com/envoyproxy/go-control-plane/envoy|golang\.org/x/net) (v\S+)`)
	versions := func(file string) map[string]string {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, m := range line.FindAllStringSubmatch(string(b), -1) {
			out[m[1]] = m[2]
		}
		return out
	}
	product, own := versions("../../../go.mod"), versions("../../go.mod")
	if len(own) != 4 {
		t.Errorf("bench/go.mod names %v", own)
	}
	for library, v := range own {
		if product[library] != v {
			t.Errorf("%s is %s in bench/go.mod and %s in go.mod", library, v, product[library])
		}
	}
}
