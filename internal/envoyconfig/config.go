package envoyconfig

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// Options say what becomes a resource of its own.
type Options struct {
	RDS bool // routes are taken out of their listeners
	EDS bool // endpoints that are addresses are taken out of their clusters
	// Step, if it is set, is called for each resource; its error ends the reading.
	Step func() error
}

// Document is a resource in the form in which the API shows it; a Secret as it is written.
type Document struct {
	Type fleet.Type
	Name string
	Body json.RawMessage
}

// Left is something that is not in the documents.
type Left struct {
	What, Why string
	// Stays: nothing is lost, it belongs to the proxy's own bootstrap or goes on as it was.
	Stays bool

	line int // where it stands; 0: not known
}

// Result is what was read.
type Result struct {
	Documents []Document // in the order of types and names
	Left      []Left
}

// Told is a Result as programs are told it.
type Told struct {
	Resources []Written `json:"resources"` // as an apply takes them
	LeftOut   []Reason  `json:"left_out"`
	Notes     []Reason  `json:"notes"` // nothing is lost of these
}

// Written is a document.
type Written struct {
	Type string          `json:"type"`
	Name string          `json:"name"`
	Body json.RawMessage `json:"body"`
}

// Reason tells of something why it is not in the documents.
type Reason struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// Told is the result for programs.
func (r Result) Told() Told {
	out := Told{Resources: []Written{}, LeftOut: []Reason{}, Notes: []Reason{}}
	for _, d := range r.Documents {
		out.Resources = append(out.Resources, Written{d.Type.Slug(), d.Name, d.Body})
	}
	for _, l := range r.Left {
		to := &out.LeftOut
		if l.Stays {
			to = &out.Notes
		}
		*to = append(*to, Reason{l.What, l.Why})
	}
	return out
}

// ErrForm is a text that is nothing of what Read reads.
var ErrForm = errors.New("this is neither an Envoy bootstrap (static_resources) nor a /config_dump (configs), nor resources as an Envoy reads them from a file (resources)")

// Read reads a bootstrap, a dump, or a DiscoveryResponse, as an Envoy reads it from a file. A resource that the API would refuse is left out, with
// what is wrong with it. The error is resource.Errors, fleet.ErrLimit, or ErrForm.
func Read(in []byte, o Options) (Result, error) {
	in = bytes.TrimPrefix(in, []byte("\ufeff"))
	root, err := parse(in)
	if err == nil {
		err = spelledOnce(root)
	}
	if err != nil {
		return Result{}, err
	}
	r := reader{Options: o, in: in, taken: map[fleet.Ref]object{}, at: map[fleet.Ref]where{}, wholes: map[fleet.Ref][]fleet.Ref{}, unread: map[fleet.Ref]object{}, numbers: map[fleet.Ref]int{}, owned: map[string]bool{}, compiler: resource.NewCompiler(resource.Config{VersionKey: make([]byte, 32)})}
	switch {
	case has(root, "configs"):
		r.dump(placed{object: root})
	case has(root, "static_resources"), has(root, "dynamic_resources"), has(root, "admin"), has(root, "node"):
		r.bootstrap(placed{object: root}, nil)
	case root["resources"] != nil:
		r.response(placed{object: root})
	default:
		return Result{}, ErrForm
	}
	return r.result()
}

// maxStrict is up to which size the text is read as the API reads documents; dumps may be
// larger, and only JSON.
const maxStrict = 4 << 20

func parse(in []byte) (object, error) {
	format := formatOf(in)
	if format == resource.YAML || len(in) <= maxStrict {
		var err error
		if in, err = resource.ToJSON(format, in); err != nil {
			return nil, err
		}
	}
	var root any
	d := json.NewDecoder(bytes.NewReader(in))
	d.UseNumber()
	if err := d.Decode(&root); err != nil {
		return nil, fmt.Errorf("read the JSON: %w", err)
	}
	o, ok := root.(object)
	if !ok {
		return nil, ErrForm
	}
	return o, nil
}

func formatOf(in []byte) resource.Format {
	if json.Valid(in) {
		return resource.JSON
	}
	return resource.YAML
}

// reader collects resources, still as trees of JSON.
type reader struct {
	Options
	in       []byte
	lines    *resource.Lines // of in, once they are asked for
	compiler *resource.Compiler
	taken    map[fleet.Ref]object
	at       map[fleet.Ref]where       // in the text
	wholes   map[fleet.Ref][]fleet.Ref // of what was made of parts of others alone: these others
	unread   map[fleet.Ref]object      // so much is wrong with them that they were not taken
	numbers  map[fleet.Ref]int         // that the last free name of a name ended with
	left     []Left
	told     int             // bytes of the places that were told
	grown    int             // bytes of all that was told, and of the names of what was made
	untold   [2]int          // how many things are not, and of them those of which nothing is lost
	owned    map[string]bool // names of the clusters of the proxy's way to its control plane
	ways     []placed        // these clusters
	unnamed  []placed        // listeners
	kept     []placed        // parts of a bootstrap that no control plane serves
}

func (r *reader) leave(what, why string) { r.note(Left{What: what, Why: why}) }

func (r *reader) stays(what, why string) { r.note(Left{What: what, Why: why, Stays: true}) }

// note tells of one thing, or counts it where too much is told already.
func (r *reader) note(l Left) {
	if r.room(len(l.What) + len(l.Why)) {
		r.left = append(r.left, l)
		return
	}
	r.untold[0]++
	if l.Stays {
		r.untold[1]++
	}
}

// mostFaults is how many faults are told of one resource; maxPointers is how many bytes of their places are told in all, beside four times
// what was read: a place can be as long as a resource. maxGrown is likewise of all that is told, and of the names that are made.
const (
	mostFaults  = 20
	maxPointers = 64 << 10
	maxGrown    = 1 << 20
)

// room reports whether so many bytes more may be told, or be a part of what is made of the text.
func (r *reader) room(bytes int) bool {
	if r.grown+bytes > maxGrown+4*len(r.in) {
		return false
	}
	r.grown += bytes
	return true
}

// tellUntold says how much is not told.
func (r *reader) tellUntold() {
	for i, n := range []int{r.untold[0] - r.untold[1], r.untold[1]} {
		if n > 0 {
			r.left = append(r.left, Left{What: "the rest", Why: fmt.Sprintf("%d more things are to be told: import less at once", n), Stays: i == 1})
		}
	}
}

// tell says of a place in the text why something is not in the documents, or what is to be known of it.
func (r *reader) tell(what string, at *place, why string, stays bool) {
	if r.told > maxPointers+4*len(r.in) { // what would be told is far longer than what was sent
		r.note(Left{what, why, stays, 0})
		return
	}
	pointer, line := at.String(), 0
	if len(r.in) <= maxStrict {
		if r.lines == nil {
			r.lines = resource.NewLines(formatOf(r.in), r.in)
		}
		line = r.lines.Of(pointer)
	}
	if r.told += len(pointer); pointer != "" && r.told <= maxPointers+4*len(r.in) {
		why = pointer + ": " + why
	}
	if line > 0 {
		why = fmt.Sprintf("line %d: %s", line, why)
	}
	r.note(Left{what, why, stays, line})
}

// faults tells of all that is wrong with a resource; pointers are into a document.
func (r *reader) faults(what string, of where, err error) {
	var errs resource.Errors
	if !errors.As(err, &errs) {
		r.leave(what, fleet.Sentence(err))
		return
	}
	for i, e := range errs {
		if i == mostFaults && len(errs) > i+1 {
			r.note(Left{What: what, Why: fmt.Sprintf("%d more things in it are wrong", len(errs)-i), line: r.lastLine()})
			break
		}
		r.tell(what, of.place(e.Pointer), e.Detail, false)
	}
}

// lastLine is where the last thing stands that was told.
func (r *reader) lastLine() int {
	if len(r.left) == 0 {
		return 0
	}
	return r.left[len(r.left)-1].line
}

// add takes a resource, whose "@type" may stand in it.
func (r *reader) add(t fleet.Type, name string, o placed) {
	if len(name) > resource.MaxName { // it would stand before each thing that is told of it
		r.tell(t.Slug(), o.at.member(spelled(o.object, nameField(t))), fmt.Sprintf("a name has %d bytes at most", resource.MaxName), false)
		return
	}
	what := t.Slug() + "/" + name
	if url, ok := o.object["@type"].(string); ok && !resource.IsOf(t, url) {
		r.leave(what, fmt.Sprintf("it is not a %s", t.Message()))
		return
	}
	delete(o.object, "@type")
	if name == "" {
		r.nameless(t, o)
		return
	}
	ref := fleet.Ref{Type: t, Name: name}
	body, err := r.normal(t, what, o)
	if err != nil {
		r.unread[ref] = o.object
		r.faults(what, where{at: o.at}, err)
		return
	}
	o.object = body
	if was, twice := r.taken[ref]; twice {
		if !reflect.DeepEqual(was, o.object) {
			r.tell(what, o.at, "it is there twice, with different content: the first was taken", false)
		}
		return
	}
	r.take(ref, o)
}

// nameField is the field of a resource that names it.
func nameField(t fleet.Type) string {
	if t == fleet.Endpoint {
		return "cluster_name"
	}
	return "name"
}

// hasName reports whether a resource has something in the place of its name.
func hasName(t fleet.Type, o object) bool { return has(o, nameField(t)) && get(o, nameField(t)) != "" }

// nameless tells of a resource that has no name, or one that is no text.
func (r *reader) nameless(t fleet.Type, o placed) {
	if !hasName(t, o.object) {
		r.tell(t.Slug(), o.at, "one of them has no name", false)
		return
	}
	why := "the name must be a text"
	switch get(o.object, nameField(t)).(type) {
	case bool:
		why += ": in YAML y, n, yes, no, on and off are true and false, and a text in quotes"
	case json.Number:
		why += ": write it in quotes"
	}
	r.tell(t.Slug(), o.at.member(spelled(o.object, nameField(t))), why, false)
}

func (r *reader) take(ref fleet.Ref, o placed) { r.taken[ref], r.at[ref] = o.object, where{at: o.at} }

// where is the place in the text from which a resource was made; within is the part of the resource that stands there, "" for the whole.
type where struct {
	at     *place
	within string
}

// place is where in the text something of the resource stands; the pointer is into its body, or into a document.
func (w where) place(pointer string) *place {
	return w.at.below(strings.TrimPrefix(strings.TrimPrefix(pointer, "/body"), w.within))
}

// normal writes a resource in the forms that everybody writes, where it has others that Envoy takes. What is wrong with it the compiler
// says of what is left of it when routes and endpoints are taken out of it; a field that stands there twice would be lost by that.
func (r *reader) normal(t fleet.Type, what string, o placed) (object, error) {
	raw, err := json.Marshal(o.object)
	if err != nil {
		return nil, err
	}
	out, old, err := resource.Normal(t, raw)
	for _, e := range old {
		r.tell(what, o.at.below(e.Pointer), e.Detail, true)
	}
	var errs resource.Errors
	if err != nil && !errors.As(err, &errs) {
		return nil, err
	}
	if slices.ContainsFunc(errs, resource.FieldError.Twice) {
		return nil, err
	}
	if bytes.Equal(out, raw) {
		return o.object, nil
	}
	d := json.NewDecoder(bytes.NewReader(out))
	d.UseNumber()
	var body object
	err = d.Decode(&body)
	return body, err
}

// result turns the trees into documents.
func (r *reader) result() (out Result, err error) {
	r.nameListeners()
	if err := r.controlPlanes(); err != nil {
		return out, err
	}
	r.tellKept()
	if err := r.subsets(); err != nil {
		return out, err
	}
	if err := r.lift(); err != nil {
		return out, err
	}
	leftOut := map[fleet.Ref]bool{}
	for ref, body := range r.taken {
		if err := r.step(); err != nil {
			return out, err
		}
		what := ref.Type.Slug() + "/" + ref.Name
		raw, err := json.Marshal(body)
		if err == nil {
			var c resource.Compiled
			c, err = r.compiler.Compile(fleet.Key{}, resource.Document{Type: ref.Type, Name: ref.Name, Body: raw})
			for _, w := range c.Warnings {
				if w.Code != "unchecked" { // it is as it was
					r.tell(what, r.at[ref].place(w.Pointer), w.Detail, true)
				}
			}
			if err == nil && ref.Type != fleet.Secret {
				raw, err = resource.Render(ref.Type, c.Value)
			}
		}
		if err != nil {
			leftOut[ref] = true
			r.faults(what, r.at[ref], err)
			continue
		}
		out.Documents = append(out.Documents, Document{ref.Type, ref.Name, raw})
	}
	slices.SortFunc(out.Documents, func(a, b Document) int {
		return cmp.Or(cmp.Compare(a.Type.Slug(), b.Type.Slug()), cmp.Compare(a.Name, b.Name))
	})
	out.Documents = slices.DeleteFunc(out.Documents, func(d Document) bool { return r.orphaned(fleet.Ref{Type: d.Type, Name: d.Name}, leftOut) })
	r.tellUntold()
	slices.SortStableFunc(r.left, func(a, b Left) int {
		return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.line, b.line), cmp.Compare(a.Why, b.Why))
	})
	out.Left = slices.Compact(r.left)
	return out, nil
}

// orphaned tells of a resource that was made of parts of others, where all of these are left out: nothing would ask for it.
func (r *reader) orphaned(ref fleet.Ref, leftOut map[fleet.Ref]bool) bool {
	of := r.wholes[ref]
	if len(of) == 0 || slices.ContainsFunc(of, func(whole fleet.Ref) bool { return !leftOut[whole] }) {
		return false
	}
	why := "it is a part of " + of[0].Type.Slug() + "/" + of[0].Name
	if len(of) == 1 {
		why += ", which is left out"
	} else {
		why += fmt.Sprintf(" and of %d more, which are left out", len(of)-1)
	}
	r.tell(ref.Type.Slug()+"/"+ref.Name, r.at[ref].place(""), why, false)
	return true
}

func (r *reader) step() error {
	if r.Step == nil {
		return nil
	}
	return r.Step()
}
