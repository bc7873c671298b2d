package alerts

import (
	"regexp"
	"strings"
	"testing"

	"fairlead/test/world"
)

// untried are the alerts of which no test makes the fault on a real server, and why. The tests of the rules alone have all.
var untried = map[string]string{
	"FairleadDatabaseFull":    "it takes a file system of its own, and the right to mount one",
	"FairleadSlowDelivery":    "the ACKs have to be late by the real clock",
	"FairleadReportsLate":     "the database has to answer the lease and refuse reports",
	"FairleadAPISlow":         "requests have to be slow by the real clock",
	"FairleadDatabaseWait":    "connections have to be taken for long by the real clock",
	"FairleadFilesNearLimit":  "it takes a limit for which the server has just enough files to start",
	"FairleadMemoryNearLimit": "it takes as much memory as a limit",
	"FairleadClockOff":        "it takes a clock of one's own",
	"FairleadPanic":           "no client is known that leads to one",
}

// TestEachAlertIsTried, or it is said why not.
func TestEachAlertIsTried(t *testing.T) {
	t.Parallel()
	tests := string(world.Read(t, "tried_test.go"))
	alerts := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(string(world.Read(t, rulesFile)), -1) {
		alerts[m[1]] = true
		switch tried, reason := strings.Contains(tests, `"`+m[1]+`"`), untried[m[1]]; {
		case tried && reason != "":
			t.Errorf("%s is tried, and it is said that it is not", m[1])
		case !tried && reason == "":
			t.Errorf("%s is not tried: make the fault in tried_test.go, or say why not", m[1])
		}
	}
	if len(alerts) < 20 {
		t.Errorf("the rules have %d alerts only", len(alerts))
	}
	for alert := range untried {
		if !alerts[alert] {
			t.Errorf("there is no alert %s", alert)
		}
	}
}
