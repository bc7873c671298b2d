package fleet

// What becomes of a write that leaves a resource without what it names (SEMANTICS 4.3).
const (
	ReferencesWarn   = "warn"   // it is stored; findings tell of it
	ReferencesStrict = "strict" // it is refused
)

// Dangling is a resource that names one that does not exist.
type Dangling struct {
	Ref
	Variant string
	Missing Ref
}
