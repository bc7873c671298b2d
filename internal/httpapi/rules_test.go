package httpapi

import (
	"maps"
	"slices"
	"testing"

	"fairlead/internal/httpapi/oapi"
)

func TestEveryOperationHasARule(t *testing.T) {
	t.Parallel()
	spec, err := oapi.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	ops, err := operations(spec)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, op := range ops {
		found[op.id] = true
		if op.rule.scope == nothing {
			t.Errorf("%s has no scope", op.id)
		}
	}
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(rules)); !slices.Equal(got, want) {
		t.Errorf("the contract has %v\nthe rules have %v", got, want)
	}
}

func TestAnOperationWithoutARuleIsNotServed(t *testing.T) {
	t.Parallel()
	spec, err := oapi.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	spec.Paths.Find("/v1/whoami").Get.OperationID = "newcomer"
	if _, err := operations(spec); err == nil {
		t.Error("an operation without a rule was accepted")
	}
}

func TestEveryErrorOfTheContractIsAProblem(t *testing.T) {
	t.Parallel()
	spec, err := oapi.GetSpec()
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	for path, item := range spec.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Summary == "" || op.OperationID == "" || len(op.Tags) != 1 {
				t.Errorf("%s %s wants a summary, an operationId and one tag", method, path)
			}
			if op.Responses.Default() == nil {
				t.Errorf("%s %s has no default answer", method, path)
			}
			for status, answer := range op.Responses.Map() {
				if status[0] < '4' && status != "default" {
					continue
				}
				if len(answer.Value.Content) != 1 || answer.Value.Content["application/problem+json"] == nil {
					t.Errorf("%s %s: %s is no problem+json", method, path, status)
				}
			}
		}
	}
}
