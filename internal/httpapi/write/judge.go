package write

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

// CodeUsesSecret is that of a refusal because of a Secret that is used, and of each place of it.
const CodeUsesSecret = "uses_secret"

// teamLabel is the label by which TLS may use a Secret: where it has the same value as that of the resource. To
// have none is a value too.
const teamLabel = "team"

// MaxThrough bounds how far extensions that name extensions are followed, a query for each step. What is further away may use any Secret.
const MaxThrough = 8

// Judge decides which Secrets a caller that may not use all of them may use. It looks at each Secret and each extension once, however many
// resources use it: their product has no bound.
type Judge struct {
	grants  auth.SecretGrants
	Known   map[fleet.Ref][]store.Used   // the variants of each Secret, when the write is made
	secrets map[string]*judged           // by name, as far as they were looked at
	Newest  map[fleet.Ref]fleet.Revision // of what is stored of it
	read    map[fleet.Ref]bool           // by whose labels was decided
}

// judged is what the labels of a Secret's variants come to.
type judged struct {
	granted bool     // to the caller, by all of them
	teams   []string // that differ, in their order; of one that is not there yet there are none
}

// NewJudge judges by the grants of a token.
func NewJudge(grants auth.SecretGrants) *Judge {
	return &Judge{grants: grants, secrets: map[string]*judged{}, read: map[fleet.Ref]bool{}}
}

// DecidedBy notes a revision of what decides as labels do.
func (j *Judge) DecidedBy(r fleet.Ref, at fleet.Revision) { j.read[r], j.Newest[r] = true, at }

func (j *Judge) secret(name string) *judged {
	if s := j.secrets[name]; s != nil {
		return s
	}
	variants := j.Known[SecretRef(name)]
	s := &judged{granted: len(variants) > 0}
	for _, u := range variants {
		s.granted = s.granted && j.grants.Labels(u.Labels)
		s.teams = append(s.teams, u.Labels[teamLabel])
	}
	slices.Sort(s.teams)
	s.teams = slices.Compact(s.teams)
	j.secrets[name] = s
	return s
}

// May reports whether the change may have the use: by the token's grants, or as TLS of the same team. Labels count
// where all variants of the Secret have them. Of a Secret that is not there yet no label is known: TLS may name it.
func (j *Judge) May(ch store.ResourceChange, use resource.Use) bool {
	if j.grants.Name(use.Name) {
		return true
	}
	if use.Any {
		return false
	}
	s, team := j.secret(use.Name), ch.Labels[teamLabel]
	ofTeam := !slices.ContainsFunc(s.teams[:min(len(s.teams), 2)], func(other string) bool { return other != team })
	if !s.granted && !(use.Kind == resource.UseTLS && takesTLS(ch.Type) && ofTeam) {
		return false
	}
	j.read[SecretRef(use.Name)] = true
	return true
}

// RefusedBelow finds of each extension the nearest Secret that it uses, itself or through others, and that the caller may not: one
// of them, as many extensions may use as many Secrets. What an extension names that was not followed may use any.
func (j *Judge) RefusedBelow(names map[fleet.Ref][]fleet.Ref) map[fleet.Ref]resource.Use {
	out, users := map[fleet.Ref]resource.Use{}, map[fleet.Ref][]fleet.Ref{}
	for _, x := range slices.SortedFunc(maps.Keys(names), compareRefs) {
		for _, r := range names[x] {
			users[r] = append(users[r], x)
		}
	}
	var refused []fleet.Ref
	for _, r := range slices.SortedFunc(maps.Keys(users), compareRefs) {
		use := resource.Use{Kind: resource.UseSent, Name: r.Name}
		if r.Type == fleet.Extension {
			use = resource.Use{Kind: resource.UseSent, Any: true}
		}
		_, followed := names[r]
		if (r.Type == fleet.Secret || r.Type == fleet.Extension && !followed) && !j.May(store.ResourceChange{}, use) {
			out[r] = use
			refused = append(refused, r)
		}
	}
	for ; len(refused) > 0; refused = refused[1:] {
		for _, x := range users[refused[0]] {
			if _, found := out[x]; !found {
				out[x] = out[refused[0]]
				refused = append(refused, x)
			}
		}
	}
	return out
}

func compareRefs(a, b fleet.Ref) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
}

// takesTLS holds of the types in which TLS is set up.
func takesTLS(t fleet.Type) bool {
	return t == fleet.Listener || t == fleet.Cluster || t == fleet.Extension
}

// Reads is what was decided by, in the order of names.
func (j *Judge) Reads() (out []store.Read) {
	for _, ref := range slices.SortedFunc(maps.Keys(j.read), func(a, b fleet.Ref) int { return cmp.Compare(a.Name, b.Name) }) {
		if len(ref.Name) <= store.MaxName && !strings.ContainsRune(ref.Name, 0) {
			out = append(out, store.Read{Type: ref.Type, Name: ref.Name, Revision: j.Newest[ref]})
		}
	}
	return out
}

const usersOfAny = "only tokens of the roles admin and owner may write that, and those whose uses_secrets has the secret"

// Fault tells of one place which Secret it uses, by which rule it is refused, who may, and how to ask.
func (j *Judge) Fault(ch store.ResourceChange, use resource.Use) oapi.FieldError {
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
	return oapi.FieldError{Pointer: &use.Pointer, Code: CodeUsesSecret, Detail: detail}
}

// FaultThrough tells of a Secret that is used by an extension which is named.
func FaultThrough(x fleet.Ref, use resource.Use, pointer string) oapi.FieldError {
	which := fmt.Sprintf("which uses the secret %q: %s. %s", use.Name, usersOfAny, howToAsk(use.Name))
	if use.Any {
		which = fmt.Sprintf("which names others more than %d deep, and they may use any secret of the fleet: %s. %s", MaxThrough, usersOfAny, howToAsk("*"))
	}
	return oapi.FieldError{Pointer: &pointer, Code: CodeUsesSecret, Detail: fmt.Sprintf("this takes the extension %q, %s", x.Name, which)}
}

func howToAsk(name string) string {
	return fmt.Sprintf("Ask an admin for a token with uses_secrets: [%q]", name)
}

// maxTeams bounds how many teams of a Secret one fault tells.
const maxTeams = 10

// teams says which teams the variants of a Secret are of.
func (j *Judge) teams(name string) string {
	all := j.secret(name).teams
	var words []string
	for _, team := range all[:min(len(all), maxTeams)] {
		words = append(words, teamWords(team))
	}
	if more := len(all) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d others", more))
	}
	return strings.Join(words, " and ")
}

func teamWords(team string) string {
	if team == "" {
		return "without the label " + teamLabel
	}
	return fmt.Sprintf("with the label %s=%q", teamLabel, team)
}

// SecretRef is what a use of a Secret names.
func SecretRef(name string) fleet.Ref { return fleet.Ref{Type: fleet.Secret, Name: name} }
