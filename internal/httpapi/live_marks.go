package httpapi

import (
	"crypto/sha256"
	"encoding/hex"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// liveWhats are the words of liveMarks, in their order.
var liveWhats = [6]oapi.LiveWhat{oapi.LiveWhatRevision, oapi.LiveWhatNodes, oapi.LiveWhatReceipt, oapi.LiveWhatEvents, oapi.LiveWhatFindings, oapi.LiveWhatSettings}

// findingsAt is the place of the findings in liveMarks.
const findingsAt = 4

// liveMarks are a fleet's marks, shortened, one for each of liveWhats: another one says that there is
// something to look at again. They are a place too, which any process can compare with its own.
type liveMarks [6][4]byte

func marksOf(m store.FleetMarks) (out liveMarks) {
	for i, text := range [6]string{
		m.Revision, m.Nodes, m.Revision + "," + m.Settings + "," + m.Nodes, m.Events, m.Revision + "," + m.Settings + "," + m.Nodes, m.Settings,
	} {
		sum := sha256.Sum256([]byte(text))
		copy(out[i][:], sum[:])
	}
	return out
}

// since are the words of what is not as it was.
func (m liveMarks) since(was liveMarks) []oapi.LiveWhat {
	what := []oapi.LiveWhat{}
	for i, word := range liveWhats {
		if m[i] != was[i] {
			what = append(what, word)
		}
	}
	return what
}

func (m liveMarks) String() string {
	var all []byte
	for _, mark := range m {
		all = append(all, mark[:]...)
	}
	return hex.EncodeToString(all)
}

func parseLiveMarks(s string) (m liveMarks, ok bool) {
	all, err := hex.DecodeString(s)
	if err != nil || len(all) != len(m)*len(m[0]) {
		return m, false
	}
	for i := range m {
		copy(m[i][:], all[i*len(m[i]):])
	}
	return m, true
}
