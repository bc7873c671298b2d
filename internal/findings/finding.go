package findings

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/internal/fleet"
)

// Code says what kind of finding it is. Codes are part of the API: they may grow in number
// and never change. docs/findings.md describes each.
type Code string

// The codes.
const (
	MissingReference   Code = "missing_reference"
	MissingForNodes    Code = "missing_for_nodes"
	CertificateExpired Code = "certificate_expired"
	CertificateExpires Code = "certificate_expires"
	KeyMismatch        Code = "key_mismatch"
	DuplicateDomain    Code = "duplicate_domain"
	StaticCluster      Code = "static_cluster"
	VariantTie         Code = "variant_tie"
	VariantUnmatched   Code = "variant_unmatched"
	VariantShadowed    Code = "variant_shadowed"
	Unreachable        Code = "unreachable"
)

// Codes returns all codes.
func Codes() []Code {
	return []Code{
		MissingReference, MissingForNodes, CertificateExpired, CertificateExpires, KeyMismatch, DuplicateDomain, StaticCluster,
		VariantTie, VariantUnmatched, VariantShadowed, Unreachable,
	}
}

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // traffic fails, or nodes do not get what was written
	Warning Severity = "warning" // it soon will be an error, or is hardly meant
	Info    Severity = "info"    // nothing is harmed
)

var ranks = map[Severity]int{Error: 0, Warning: 1, Info: 2}

// Finding is one thing that is found in a fleet.
type Finding struct {
	Code     Code
	Severity Severity
	fleet.Ref
	Variant string
	Pointer string // RFC 6901, into the resource's document; "" is the whole of it
	// To is the other resource that it is about; without a name there is none.
	To        fleet.Ref
	ToVariant string
	Nodes     int    // how many nodes it is about, where it is about some only
	Detail    string // a sentence for people, which says what to do
}

// sortFindings puts the worst first, and those of one resource together.
func sortFindings(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			ranks[a.Severity]-ranks[b.Severity], strings.Compare(a.Type.Slug(), b.Type.Slug()), strings.Compare(a.Name, b.Name),
			strings.Compare(a.Variant, b.Variant), strings.Compare(string(a.Code), string(b.Code)), strings.Compare(a.Pointer, b.Pointer),
			strings.Compare(a.To.Type.Slug(), b.To.Type.Slug()), strings.Compare(a.To.Name, b.To.Name), strings.Compare(a.ToVariant, b.ToVariant),
		)
	})
}
