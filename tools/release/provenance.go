package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
)

// The statement that in-toto (https://in-toto.io/Statement/v1) and SLSA (https://slsa.dev/spec/v1.0/provenance) describe. It is not signed: who
// publishes the files signs it, with SHA256SUMS.
type (
	statement struct {
		Type          string    `json:"_type"`
		Subject       []subject `json:"subject"`
		PredicateType string    `json:"predicateType"`
		Predicate     predicate `json:"predicate"`
	}
	subject struct {
		Name   string            `json:"name,omitempty"`
		URI    string            `json:"uri,omitempty"`
		Digest map[string]string `json:"digest,omitempty"`
	}
	predicate struct {
		BuildDefinition buildDefinition `json:"buildDefinition"`
		RunDetails      runDetails      `json:"runDetails"`
	}
	buildDefinition struct {
		BuildType            string         `json:"buildType"`
		ExternalParameters   map[string]any `json:"externalParameters"`
		InternalParameters   map[string]any `json:"internalParameters"`
		ResolvedDependencies []subject      `json:"resolvedDependencies"`
	}
	runDetails struct {
		Builder struct {
			ID string `json:"id"`
		} `json:"builder"`
	}
)

// provenance writes what the files were built from, and how somebody else can build them.
func (t *tree) provenance(ctx context.Context) error {
	names, sums, err := t.published()
	if err != nil {
		return err
	}
	s := statement{Type: "https://in-toto.io/Statement/v1", PredicateType: "https://slsa.dev/provenance/v1"}
	for _, n := range names {
		s.Subject = append(s.Subject, subject{Name: n, Digest: map[string]string{"sha256": sums[n]}})
	}
	version, err := t.run(ctx, nil, "go", "env", "GOVERSION")
	if err != nil {
		return err
	}
	s.Predicate.BuildDefinition = buildDefinition{
		BuildType:          "https://fairlead.invalid/make-release/v1",
		ExternalParameters: map[string]any{"command": "make release VERSION=" + t.Version, "platforms": t.Platforms},
		InternalParameters: map[string]any{"go": strings.TrimSpace(string(version)), "environment": goEnv, "SOURCE_DATE_EPOCH": t.date.Unix()},
	}
	s.Predicate.RunDetails.Builder.ID = "https://fairlead.invalid/any-machine"
	if t.commit != "" {
		s.Predicate.BuildDefinition.ResolvedDependencies = append(s.Predicate.BuildDefinition.ResolvedDependencies, subject{URI: "git+file:.", Digest: map[string]string{"gitCommit": t.commit}})
	}
	for _, name := range []string{"go.mod", "go.sum", "web/package-lock.json"} {
		hash, err := sum(t.Root + "/" + name)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return err
		}
		s.Predicate.BuildDefinition.ResolvedDependencies = append(s.Predicate.BuildDefinition.ResolvedDependencies, subject{URI: "file:" + name, Digest: map[string]string{"sha256": hash}})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	return t.write("fairlead_"+t.Version+".provenance.json", b.Bytes())
}
