package findings

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
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
	CredentialExpires  Code = "credential_expires"
	TokenExpires       Code = "token_expires"
	KeyMismatch        Code = "key_mismatch"
	SealedForAnother   Code = "sealed_for_another_key"
	EndpointsHeld      Code = "endpoints_held"
	RequestsFail       Code = "requests_fail"
	NotCalled          Code = "not_called"
	DuplicateDomain    Code = "duplicate_domain"
	StaticCluster      Code = "static_cluster"
	ValueChanged       Code = "value_changed"
	VariantTie         Code = "variant_tie"
	VariantUnmatched   Code = "variant_unmatched"
	VariantShadowed    Code = "variant_shadowed"
	Unreachable        Code = "unreachable"
	NamesBootstrap     Code = "names_bootstrap"
	OldBootstrap       Code = "old_bootstrap"
	UnservedType       Code = "unserved_type"
	SetTooLarge        Code = "set_too_large"
	DeliveredByName    Code = "delivered_by_name"
	NeedsContrib       Code = "needs_contrib"
)

// Codes returns all codes.
func Codes() []Code {
	return []Code{
		MissingReference, MissingForNodes, CertificateExpired, CertificateExpires, CredentialExpires, TokenExpires, KeyMismatch, SealedForAnother, EndpointsHeld, RequestsFail, NotCalled, DuplicateDomain,
		StaticCluster, ValueChanged, VariantTie, VariantUnmatched, VariantShadowed, Unreachable, NamesBootstrap, OldBootstrap, UnservedType, SetTooLarge, DeliveredByName, NeedsContrib,
	}
}

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // traffic fails, or nodes do not get what was written
	Warning Severity = "warning" // it will be an error soon, or is probably a mistake
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

// Key is the place of a finding in the order of lists: the worst first, and those of one resource
// together. It has at most a few KiB, however long the pointer.
func (f Finding) Key() [9]string {
	pointer := f.Pointer
	if len(pointer) > maxKeyPointer {
		sum := sha256.Sum256([]byte(pointer))
		pointer = strings.ToValidUTF8(pointer[:maxKeyPointer], "") + hex.EncodeToString(sum[:])
	}
	return [9]string{strconv.Itoa(ranks[f.Severity]), f.Type.Slug(), f.Name, f.Variant, string(f.Code), pointer, f.To.Type.Slug(), f.To.Name, f.ToVariant}
}

const maxKeyPointer = 512 // bytes

// Compare orders keys.
func Compare(a, b [9]string) int { return slices.Compare(a[:], b[:]) }

func sortFindings(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int { return Compare(a.Key(), b.Key()) })
}
