package kubetest

import (
	"bytes"
	"os"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// RoleOf reads the rules of the Role in a manifest, which may hold other objects too.
func RoleOf(t *testing.T, file string) []rbacv1.PolicyRule {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var kind struct {
			Kind string `json:"kind"`
		}
		if err := yaml.Unmarshal(document, &kind); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if kind.Kind != "Role" {
			continue
		}
		var role rbacv1.Role
		if err := yaml.UnmarshalStrict(document, &role); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		return role.Rules
	}
	t.Fatalf("%s has no Role", file)
	return nil
}
