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

// GoesOnWith reports whether a client in which a resource of the type names another one goes on with that when it is
// deleted (SEMANTICS 4.5).
func (t Type) GoesOnWith(named Type) bool {
	return t.Needs(named) || t == ScopedRoute && named == Route
}

// Needs reports whether a resource of the type cannot do without what it names of another type: Envoy
// would keep it warming. Other references never hold anything up (SEMANTICS 4.3).
func (t Type) Needs(named Type) bool {
	switch t {
	case Listener:
		return named == Route || named == Extension || named == Secret
	case Cluster:
		return named == Secret
	}
	return false
}
