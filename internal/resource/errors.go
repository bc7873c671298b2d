package resource

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/internal/fleet"
)

// FieldError is one thing that is wrong with a document, or a warning about it.
type FieldError struct {
	Pointer string // RFC 6901, into the document that was sent; "" is the whole of it
	Code    string // a stable slug, such as "unknown_field"
	Detail  string // a sentence for people

	// Line and Column, from 1, are of the text where that could not be read; Detail begins
	// with them. Column may be 0 for not known, and both are 0 where Pointer leads there.
	Line, Column int
}

// Error returns the pointer and the sentence.
func (e FieldError) Error() string {
	if e.Pointer == "" {
		return e.Detail
	}
	return e.Pointer + ": " + e.Detail
}

// Errors is all that is wrong with a document, as far as it could be read. It is an
// fleet.ErrInvalid.
type Errors []FieldError

// Error returns the first three errors and how many there are.
func (e Errors) Error() string {
	var b strings.Builder
	for i, f := range e {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(e)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(f.Error())
	}
	return b.String()
}

// Unwrap makes Errors a fleet.ErrInvalid.
func (e Errors) Unwrap() error { return fleet.ErrInvalid }

// The codes of errors and warnings. They are part of the API: they may grow in number
// and never change.
const (
	codeSyntax        = "syntax"              // not JSON, not YAML, not UTF-8
	codeLimit         = "limit"               // too deep, too many, too long
	codeYAML          = "yaml_feature"        // an alias or merge key that leads nowhere, a tag, several documents
	codeAmbiguous     = "ambiguous_scalar"    // an unquoted key that is a null
	codeDuplicateKey  = "duplicate_key"       // one key twice in one object
	codeDuplicate     = "duplicate"           // one resource, domain or the like twice
	codeUnknownField  = "unknown_field"       //
	codeUnknownType   = "unknown_type"        // an "@type" or a type of resource that is not known
	codeOldAPI        = "v2_api"              // a message of Envoy's v2 API
	codeUnserved      = "type_not_served"     // a source of a type that this control plane does not serve
	codeMissingType   = "missing_type"        // an Any without "@type"
	codeTypeMismatch  = "type_mismatch"       // "@type" or type differ from what they must be
	codeWrongType     = "wrong_type"          // a text where a number belongs, ...
	codeUnknownEnum   = "unknown_enum"        //
	codeOneof         = "oneof_conflict"      // two fields that exclude each other
	codeValue         = "invalid_value"       //
	codeConstraint    = "constraint"          // a constraint of Envoy's API
	codeRequired      = "required"            // something must be set
	codeNameMismatch  = "name_mismatch"       // the name inside the body, or in the path, differs
	codeNameForm      = "name_form"           //
	codeVariant       = "variant_invalid"     // a selector or a priority of the default variant
	codeSelector      = "selector_invalid"    //
	codeTTL           = "ttl_invalid"         //
	codeDelivery      = "delivery_invalid"    // not by-name, or of something else than a cluster
	codeNegative      = "negative_duration"   //
	codeRingSize      = "ring_size"           // sticks in Envoy
	codeTableSize     = "table_size"          // sticks in Envoy
	codeDomain        = "duplicate_domain"    //
	codeAddress       = "address_not_ip"      //
	codeRegex         = "regex_invalid"       //
	codeCertificate   = "certificate_invalid" //
	codeKey           = "key_mismatch"        // a private key that is not the certificate's
	codeInlineKey     = "inline_key"          // a key, password or token outside of a Secret
	codeRedacted      = "redacted"            // what stands in the place of a value that is not shown
	codeTTLNoEffect   = "ttl_without_effect"  // warning
	codeTTLDeltaOnly  = "ttl_delta_only"      // warning: not every client is sent it
	codeKeep          = "keep_conflict"       // "keep" beside what would change the stored resource
	codePlaceholder   = "placeholder_invalid" // a value of the fleet where none can stand
	codeUnknownValue  = "unknown_value"       // the fleet has no such value
	codeDeprecated    = "deprecated_field"    // a note of an import
	codeKeyInChain    = "key_in_chain"        // warning: a private key among certificates
	codeMixedKinds    = "mixed_kinds"         // warning: numbers and texts under one key of a subset
	codeVariable      = "unexpanded_variable" // warning: a Secret that is the name of a variable
	codeUnchecked     = "unchecked"           // warning: content that cannot be checked
	codeRemote        = "remote_code"         // warning: what is ACKed before it is fetched
	codeTooManyErrors = "too_many_errors"     //
)

// maxErrors bounds what one answer holds.
const maxErrors = 100

// report collects errors.
type report struct {
	errs  Errors
	typed typedStructs
}

func (r *report) add(at *path, code, format string, args ...any) {
	switch {
	case len(r.errs) < maxErrors:
		r.errs = append(r.errs, FieldError{Pointer: at.String(), Code: code, Detail: fmt.Sprintf(format, args...)})
	case len(r.errs) == maxErrors:
		r.errs = append(r.errs, FieldError{Code: codeTooManyErrors, Detail: fmt.Sprintf("more than %d errors: the rest is left out", maxErrors)})
	}
}

func (r *report) full() bool { return len(r.errs) > maxErrors }

// err returns what was collected as an error, or nil. Where a constraint of Envoy's API
// and a rule of our own speak of one field, the rule says it better.
func (r *report) err() error {
	if len(r.errs) == 0 {
		return nil
	}
	better := map[string]bool{}
	for _, e := range r.errs {
		if e.Code != codeConstraint {
			better[e.Pointer] = true
		}
	}
	return slices.DeleteFunc(r.errs, func(e FieldError) bool { return e.Code == codeConstraint && better[e.Pointer] })
}

// failAt fails at a place in the text.
func failAt(line, column int, at *path, code, detail string) error {
	return Errors{{at.String(), code, fmt.Sprintf("line %d, column %d: %s", line, column, detail), line, column}}
}

func fail(at *path, code, format string, args ...any) error {
	var r report
	r.add(at, code, format, args...)
	return r.errs
}
