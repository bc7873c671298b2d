package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"maps"
	"slices"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
)

// tenantWhats are the words of tenantMarks, in their order: whether there are other fleets, then those of liveWhats.
var tenantWhats = [1 + len(liveWhats)]oapi.TenantLiveWhat{
	oapi.TenantLiveWhatFleets, oapi.TenantLiveWhatRevision, oapi.TenantLiveWhatNodes, oapi.TenantLiveWhatReceipt, oapi.TenantLiveWhatEvents,
	oapi.TenantLiveWhatFindings, oapi.TenantLiveWhatSettings,
}

// tenantMarks are what liveMarks are, for all fleets of a tenant.
type tenantMarks [len(tenantWhats)][4]byte

// tenantMarksOf works them out from those of the fleets.
func tenantMarksOf(fleets map[fleet.ID]*namedFeed) (out tenantMarks) {
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

// since are the words of what is not as it was.
func (m tenantMarks) since(was tenantMarks) []oapi.TenantLiveWhat {
	what := []oapi.TenantLiveWhat{}
	for i, word := range tenantWhats {
		if m[i] != was[i] {
			what = append(what, word)
		}
	}
	return what
}

func (m tenantMarks) String() string {
	var all []byte
	for _, mark := range m {
		all = append(all, mark[:]...)
	}
	return hex.EncodeToString(all)
}

func parseTenantMarks(s string) (m tenantMarks, ok bool) {
	all, err := hex.DecodeString(s)
	if err != nil || len(all) != len(m)*len(m[0]) {
		return m, false
	}
	for i := range m {
		copy(m[i][:], all[i*len(m[i]):])
	}
	return m, true
}
