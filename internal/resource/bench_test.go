package resource_test

import (
	"testing"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

func benchDocument(b *testing.B) resource.Document {
	b.Helper()
	j, err := resource.ToJSON(resource.YAML, []byte(testdata(b, "listener.yaml")))
	if err != nil {
		b.Fatal(err)
	}
	d, err := resource.ParseDocument(j)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func BenchmarkCompileListener(b *testing.B) {
	d, c := benchDocument(b), newCompiler()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Compile(testKey, d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkToJSONListener(b *testing.B) {
	in := []byte(testdata(b, "listener.yaml"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := resource.ToJSON(resource.YAML, in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRenderListener(b *testing.B) {
	out, err := newCompiler().Compile(testKey, benchDocument(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := resource.Render(fleet.Listener, out.Value); err != nil {
			b.Fatal(err)
		}
	}
}
