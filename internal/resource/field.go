package resource

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/internal/fleet"
	"fairlead/internal/redact"
	"fairlead/internal/selector"
)

// sameAddress refuses a document that says another address than the one it is put at.
func (r *reader) sameAddress(d, address *Document, at *path) {
	if address == nil {
		return
	}
	if d.Type != address.Type {
		r.add(at.member("type"), codeTypeMismatch, "the document is one of %s, the address is of %s", d.Type, address.Type)
	}
	if d.Name != address.Name {
		r.add(at.member("name"), codeNameMismatch, "the document's name is not the one in the address, %q", address.Name)
	}
	if d.Variant != address.Variant {
		r.add(at.member("variant"), codeNameMismatch, "the document's variant is not the one in the address, %q", address.Variant)
	}
}

// variants checks which nodes a document is for, and brings its selector into the
// canonical form: spaces and the order of requirements are no change.
func (r *reader) variants(d *Document, at *path) {
	if d.Variant == "" {
		if d.Selector != "" {
			r.add(at.member("selector"), codeVariant, "the default variant is for the nodes that no other one matches and has no selector: name the variant (variant: eu), or leave the selector out")
		}
		if d.Priority != 0 {
			r.add(at.member("priority"), codeVariant, "every variant that matches comes before the default one, which has no priority: name the variant (variant: eu), or leave the priority out")
		}
		return
	}
	r.variantName(d.Variant, at)
	if d.Selector == "" {
		r.add(at.member("selector"), codeRequired, "a variant needs a selector that says which nodes it is for, such as locality.region=eu: write one beside the body, or leave the variant out for the default one")
		return
	}
	if !r.fixed(d.Selector, at.member("selector")) {
		return
	}
	s, err := selector.Parse(d.Selector)
	if err != nil {
		r.add(at.member("selector"), codeSelector, "%s", fleet.Sentence(err))
		return
	}
	d.Selector = s.String()
}

// variantName checks the name of a variant; the default one has none.
func (r *reader) variantName(name string, at *path) {
	if at := at.member("variant"); r.fixed(name, at) {
		r.plain(name, at, maxVariant)
	}
}

// fixed refuses a value of the fleet beside the body, where it would stand as it is written.
func (r *reader) fixed(s string, at *path) bool {
	if strings.Contains(s, placeholderStart) {
		r.add(at, codePlaceholder, "a value of the fleet stands in the texts of the body alone: what stands beside the body is the same in every fleet")
		return false
	}
	return true
}

// name checks the name of a resource: any text that Postgres can keep and a client can
// subscribe to.
func (r *reader) name(name string, at *path) {
	switch {
	case name == "":
		r.add(at, codeNameForm, "the name is empty")
	case r.fixed(name, at):
		r.plain(name, at, MaxName)
	}
}

// plain checks a text that goes into a column of the database.
func (r *reader) plain(s string, at *path, most int) {
	switch {
	case len(s) > most:
		r.add(at, codeLimit, "this is longer than %d bytes", most)
	case strings.ContainsRune(s, 0) || !utf8.ValidString(s):
		r.add(at, codeValue, "this must be UTF-8 without the character NUL")
	case redact.PrivateKey(s):
		r.add(at, codeInlineKey, "there is a private key in this text, which is stored and shown in the clear: leave it out")
	}
}

func (r *reader) text(n *node, at *path) (string, bool) {
	if n.kind != kindString {
		r.add(at, codeWrongType, "this must be a text, not %s%s", n.kind, unquoted(n.kind, "a text"))
		return "", false
	}
	return n.text, true
}

func (r *reader) int32(n *node, at *path) int32 {
	v, err := strconv.ParseInt(n.text, 10, 32)
	if n.kind != kindNumber || err != nil {
		r.add(at, codeWrongType, "this must be a whole number of 32 bits")
		return 0
	}
	return int32(v)
}

func (r *reader) revision(n *node, at *path) int64 {
	v, err := strconv.ParseInt(n.text, 10, 64)
	if n.kind != kindNumber || err != nil || v < 0 {
		r.add(at, codeWrongType, "this must be the number of a revision")
		return 0
	}
	return v
}

var etagForm = regexp.MustCompile(`^"?([0-9]{1,19}-[0-9a-f]{8})"?$`)

// ParseETag reads an ETag, with its quotes or without, and returns it with them.
func ParseETag(text string) (tag string, ok bool) {
	m := etagForm.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return `"` + m[1] + `"`, true
}

func (r *reader) etag(n *node, at *path) string {
	tag, ok := ParseETag(n.text)
	if n.kind != kindString || !ok {
		r.add(at, codeWrongType, "this must be an etag as an answer has it, such as \"7-1a2b3c4d\"")
		return ""
	}
	return tag
}

// token reads what makes sure that nothing else is written than what was seen: an empty one would pass for none.
func (r *reader) token(n *node, at *path) string {
	s, ok := r.text(n, at)
	if ok && s == "" {
		r.add(at, codeRequired, "the token is empty: give the one of the plan, or leave it out")
	}
	r.plain(s, at, maxMessage)
	return s
}

// ttl reads a duration as proto3 JSON has it: "30s", "1.5s".
func (r *reader) ttl(n *node, at *path) time.Duration {
	if n.kind != kindString {
		r.add(at, codeWrongType, "ttl must be a text such as \"30s\" or \"1.5s\", not %s", n.kind)
		return 0
	}
	secs, nanos, ok := parseDuration(n.text)
	switch {
	case !ok:
		r.add(at, codeTTL, "ttl must be seconds, such as \"30s\" or \"1.5s\"")
	case secs < 0 || nanos < 0 || secs == 0 && nanos == 0:
		r.add(at, codeTTL, "ttl must be above zero: leave it out for none")
	case secs >= int64(maxTTL/time.Second):
		r.add(at, codeTTL, "ttl must be below one year")
	case nanos%int32(time.Millisecond) != 0:
		r.add(at, codeTTL, "ttl must be whole milliseconds")
	default:
		ttl := time.Duration(secs)*time.Second + time.Duration(nanos)
		r.ttlRange(ttl, at)
		return ttl
	}
	return 0
}

// DeliveryByName is the delivery of what only clients get that ask for it by its name.
const DeliveryByName = "by-name"

// byName reads how a resource is delivered.
func (r *reader) byName(n *node, at *path) bool {
	s, ok := r.text(n, at)
	if ok && s != DeliveryByName {
		r.add(at, codeDelivery, "delivery is \"by-name\", of a cluster that only clients get which ask for it by its name: leave it out for one that all get")
	}
	return ok && s == DeliveryByName
}

// delivery refuses what is always asked for by name, or cannot be left out.
func (r *reader) delivery(d *Document, at *path) {
	if d.ByName && d.Type != fleet.Cluster {
		r.add(at.member("delivery"), codeDelivery, "delivery is of clusters alone, which proxies can ask for on demand: leave it out of what is one of %s", d.Type)
	}
}

// ttlRange refuses what the server could not keep alive. 0 is no TTL.
func (r *reader) ttlRange(ttl time.Duration, at *path) {
	if ttl != 0 && ttl < minTTL {
		r.add(at, codeTTL, "ttl must be at least %s: it is renewed when a third of it has passed, and below that a short hitch of the network "+
			"would take the resource away from proxies that work", minTTL)
	}
}

func (r *reader) labels(n *node, at *path) map[string]string {
	if n.kind != kindObject {
		r.add(at, codeWrongType, "labels must be an object of texts, not %s", n.kind)
		return nil
	}
	if len(n.members) > maxLabels {
		r.add(at, codeLimit, "there are more than %d labels", maxLabels)
		return nil
	}
	labels := make(map[string]string, len(n.members))
	for i := range n.members {
		m := &n.members[i]
		here := at.member(m.key)
		if m.key == "" {
			r.add(here, codeValue, "the key of a label is empty")
		}
		r.plain(m.key, here, maxLabelKey)
		if s, ok := r.text(m.value, here); ok {
			r.fixed(s, here)
			r.plain(s, here, maxLabelValue)
			labels[m.key] = s
		}
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}

func typeSlugs() string {
	var s []string
	for _, t := range fleet.Types() {
		s = append(s, t.Slug())
	}
	return strings.Join(s, ", ")
}
