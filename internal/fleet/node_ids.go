package fleet

// Whether several clients may have one node id at the same time.
const (
	NodeIDsShared    = "shared"    // they may, and are told as duplicates
	NodeIDsExclusive = "exclusive" // the later one is refused while the earlier one lives
)
