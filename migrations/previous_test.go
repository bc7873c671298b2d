package migrations

import (
	"testing"

	"fairlead/test/previous"
)

// TestThePreviousReleaseRunsOnThisSchema: the programs of the last release start on a schema with a higher number than theirs, whatever its functions
// are. Under their own number they want their own functions, and would put them back.
func TestThePreviousReleaseRunsOnThisSchema(t *testing.T) {
	t.Parallel()
	if Latest() < previous.Number || TablesHash(previous.Number) != previous.Tables {
		t.Errorf("a migration up to %d is not what was released: no database of the last release could be migrated. Write another number", previous.Number)
	}
	if Latest() == previous.Number && FunctionsHash() != previous.Functions {
		t.Errorf("the functions are not those that were released with number %d: servers of the last release would refuse to start. Add a number, if need be one that does nothing", previous.Number)
	}
}
