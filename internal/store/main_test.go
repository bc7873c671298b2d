package store_test

import (
	"testing"

	"go.uber.org/goleak"

	"fairlead/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if moveAndDie() {
		return
	}
	goleak.VerifyTestMain(storetest.Main(m))
}
