package live

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"time"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// tenantWhats are the words of TenantMarks, in their order: whether there are other fleets, then those of whats.
var tenantWhats = [1 + len(whats)]oapi.TenantLiveWhat{
	oapi.TenantLiveWhatFleets, oapi.TenantLiveWhatRevision, oapi.TenantLiveWhatNodes, oapi.TenantLiveWhatReceipt, oapi.TenantLiveWhatEvents,
	oapi.TenantLiveWhatFindings, oapi.TenantLiveWhatSettings,
}

// TenantMarks are what Marks are, for all fleets of a tenant.
type TenantMarks [len(tenantWhats)][4]byte

// MarksOfFleets works them out from those of all fleets of a scope, as the database has them.
func MarksOfFleets(all []store.NamedMarks) TenantMarks {
	var f tenantFeed
	f.post(all, time.Time{})
	return f.marks
}

// tenantMarksOf works them out from those of the fleets.
func tenantMarksOf(fleets map[fleet.ID]*namedFeed) (out TenantMarks) {
	if len(fleets) == 0 {
		return out
	}
	var sums [len(out)]hash.Hash
	for i := range sums {
		sums[i] = sha256.New()
	}
	for _, id := range slices.SortedFunc(maps.Keys(fleets), func(a, b fleet.ID) int { return bytes.Compare(a[:], b[:]) }) {
		f := fleets[id]
		sums[0].Write(id[:])
		sums[0].Write([]byte(f.name + "\x00"))
		for i, mark := range f.marks {
			sums[i+1].Write(id[:])
			sums[i+1].Write(mark[:])
		}
	}
	for i, sum := range sums {
		copy(out[i][:], sum.Sum(nil))
	}
	return out
}

// Since are the words of what is not as it was.
func (m TenantMarks) Since(was TenantMarks) []oapi.TenantLiveWhat {
	what := []oapi.TenantLiveWhat{}
	for i, word := range tenantWhats {
		if m[i] != was[i] {
			what = append(what, word)
		}
	}
	return what
}

func (m TenantMarks) String() string {
	var all []byte
	for _, mark := range m {
		all = append(all, mark[:]...)
	}
	return hex.EncodeToString(all)
}

// ParseTenantMarks reads what String writes.
func ParseTenantMarks(s string) (m TenantMarks, ok bool) {
	all, err := hex.DecodeString(s)
	if err != nil || len(all) != len(m)*len(m[0]) {
		return m, false
	}
	for i := range m {
		copy(m[i][:], all[i*len(m[i]):])
	}
	return m, true
}
