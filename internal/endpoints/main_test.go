package endpoints_test

import (
	"testing"

	"go.uber.org/goleak"

	"fairlead/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(storetest.Main(m)) }
