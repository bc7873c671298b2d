package httpapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/internal/auth"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// judge decides which Secrets a caller that may not use all of them may use.
type judge struct {
	grants auth.SecretGrants
	known  map[fleet.Ref][]store.Used   // the variants of each Secret, when the write is made
	newest map[fleet.Ref]fleet.Revision // of what is stored of it
	read   map[fleet.Ref]bool           // by whose labels was decided
}

// may reports whether the change may have the use: by the token's grants, or as TLS of the same team. Labels count
// where all variants of the Secret have them. Of a Secret that is not there yet no label is known: TLS may name it.
func (j *judge) may(ch store.ResourceChange, use resource.Use) bool {
	if j.grants.Name(use.Name) {
		return true
	}
	if use.Any {
		return false
	}
	ref := secretRef(use.Name)
	variants := j.known[ref]
	all := func(ok func(map[string]string) bool) bool {
		return !slices.ContainsFunc(variants, func(u store.Used) bool { return !ok(u.Labels) })
	}
	granted := len(variants) > 0 && all(j.grants.Labels)
	team := ch.Labels[teamLabel]
	if !granted && !(use.Kind == resource.UseTLS && takesTLS(ch.Type) && all(func(labels map[string]string) bool { return labels[teamLabel] == team })) {
		return false
	}
	j.read[ref] = true
	return true
}

// takesTLS holds of the types in which TLS is set up.
func takesTLS(t fleet.Type) bool {
	return t == fleet.Listener || t == fleet.Cluster || t == fleet.Extension
}

// reads is what was decided by, in the order of names.
func (j *judge) reads() (out []store.Read) {
	for _, ref := range slices.SortedFunc(maps.Keys(j.read), func(a, b fleet.Ref) int { return cmp.Compare(a.Name, b.Name) }) {
		if len(ref.Name) <= maxName && !strings.ContainsRune(ref.Name, 0) {
			out = append(out, store.Read{Type: ref.Type, Name: ref.Name, Revision: j.newest[ref]})
		}
	}
	return out
}

const usersOfAny = "only tokens of the roles admin and owner may write that, and those whose uses_secrets has the secret"

// fault tells of one place which Secret it uses, by which rule it is refused, who may, and how to ask.
func (j *judge) fault(ch store.ResourceChange, use resource.Use) oapi.FieldError {
	var detail string
	switch {
	case use.Any:
		detail = fmt.Sprintf("which secret is used here is decided while the proxy serves, so it may be any of the fleet: %s. %s", usersOfAny, howToAsk("*"))
	case use.Kind == resource.UseSent || !takesTLS(ch.Type):
		detail = fmt.Sprintf("this uses the secret %q in a way by which its content can leave the proxy: %s. %s", use.Name, usersOfAny, howToAsk(use.Name))
	default:
		detail = fmt.Sprintf("this uses the secret %q, %s, in a resource %s: TLS may use secrets of its own team. Else %s. %s",
			use.Name, j.teams(use.Name), teamWords(ch.Labels[teamLabel]), usersOfAny, howToAsk(use.Name))
	}
	return oapi.FieldError{Pointer: &use.Pointer, Code: codeUsesSecret, Detail: detail}
}

// faultThrough tells of a Secret that is used by an extension which is named.
func faultThrough(x fleet.Ref, use resource.Use, pointer string) oapi.FieldError {
	which := fmt.Sprintf("which uses the secret %q: %s. %s", use.Name, usersOfAny, howToAsk(use.Name))
	if use.Any {
		which = fmt.Sprintf("which names others more than %d deep, and they may use any secret of the fleet: %s. %s", maxThrough, usersOfAny, howToAsk("*"))
	}
	return oapi.FieldError{Pointer: &pointer, Code: codeUsesSecret, Detail: fmt.Sprintf("this takes the extension %q, %s", x.Name, which)}
}

func howToAsk(name string) string {
	return fmt.Sprintf("Ask an admin for a token with uses_secrets: [%q]", name)
}

// teams says which teams the variants of a Secret are of.
func (j *judge) teams(name string) string {
	var words []string
	for _, u := range j.known[secretRef(name)] {
		words = append(words, teamWords(u.Labels[teamLabel]))
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " and ")
}

func teamWords(team string) string {
	if team == "" {
		return "without the label " + teamLabel
	}
	return fmt.Sprintf("with the label %s=%q", teamLabel, team)
}
