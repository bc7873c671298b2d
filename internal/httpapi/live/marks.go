package live

import (
	"crypto/sha256"
	"encoding/hex"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/store"
)

// whats are the words of Marks, in their order.
var whats = [6]oapi.LiveWhat{oapi.LiveWhatRevision, oapi.LiveWhatNodes, oapi.LiveWhatReceipt, oapi.LiveWhatEvents, oapi.LiveWhatFindings, oapi.LiveWhatSettings}

// findingsAt is the place of the findings in Marks.
const findingsAt = 4

// Marks are a fleet's marks, shortened, one for each of whats: another one says that there is
// something to look at again. They are a place too, which any process can compare with its own.
type Marks [6][4]byte

// MarksOf shortens those of the database.
func MarksOf(m store.FleetMarks) (out Marks) {
	for i, text := range [6]string{
		m.Revision, m.Nodes, m.Revision + "," + m.Settings + "," + m.Nodes, m.Events, m.Revision + "," + m.Settings + "," + m.Nodes, m.Settings,
	} {
		sum := sha256.Sum256([]byte(text))
		copy(out[i][:], sum[:])
	}
	return out
}

// Since are the words of what is not as it was.
func (m Marks) Since(was Marks) []oapi.LiveWhat {
	what := []oapi.LiveWhat{}
	for i, word := range whats {
		if m[i] != was[i] {
			what = append(what, word)
		}
	}
	return what
}

func (m Marks) String() string {
	var all []byte
	for _, mark := range m {
		all = append(all, mark[:]...)
	}
	return hex.EncodeToString(all)
}

// ParseMarks reads what String writes.
func ParseMarks(s string) (m Marks, ok bool) {
	all, err := hex.DecodeString(s)
	if err != nil || len(all) != len(m)*len(m[0]) {
		return m, false
	}
	for i := range m {
		copy(m[i][:], all[i*len(m[i]):])
	}
	return m, true
}
