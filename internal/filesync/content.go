package filesync

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// item is a resource as it stands in a file. It is immutable, and known by its address.
type item struct {
	version string          // as the server calls it; "" of what was found in the folder
	body    json.RawMessage // nil: there is no resource of the name
	refs    []fleet.Ref     // what it subscribes to; nil of what was found in the folder
	files   []string        // the files that it names
}

// byName are items of a type.
type byName map[string]*item

// content is what the server has sent, and what stands in the folder. It has one owner.
type content struct {
	folder *folder
	seenAs string // where Envoy sees the folder
	// begin is called before the first change that a write makes.
	begin func() error

	// Of this stream: what was sent, what was taken away, which types were answered at all, and what is not answered for yet.
	have     [fleet.NumTypes]byName
	gone     [fleet.NumTypes]map[string]bool
	answered [fleet.NumTypes]bool
	answers  []*answer
	// complete: all that the server has was sent once. Until then what was found in the folder stays there beside what comes: it is not
	// known yet to be gone.
	complete bool
	// partial: the files of all of a type are begun with what is ready, though something that was sent is not.
	partial bool

	// Of the folder: what stands in the files of all of a type, what stands in each other file, and the version_info of each.
	whole    map[fleet.Type]byName
	named    byName // by file
	versions map[string]string
}

func newContent(f *folder, seenAs string) (*content, error) {
	c := &content{folder: f, seenAs: seenAs, whole: map[fleet.Type]byName{}, named: byName{}, versions: map[string]string{}}
	c.forget()
	for t := range wholes {
		c.whole[t] = byName{}
	}
	files, err := f.files()
	if err != nil {
		return nil, err
	}
	for file, text := range files {
		c.found(file, text)
	}
	return c, nil
}

// forget is for a stream that knows nothing of those before it.
func (c *content) forget() {
	for _, t := range fleet.Types() {
		c.have[t], c.gone[t], c.answered[t] = byName{}, map[string]bool{}, false
	}
	c.answers, c.complete = nil, false
}

// resume is for a stream that goes on where the last one ended: what was not written then was not received.
func (c *content) resume() {
	for _, t := range fleet.Types() {
		for name, it := range c.have[t] {
			if old := c.standing(fleet.Ref{Type: t, Name: name}); old == nil {
				delete(c.have[t], name)
			} else if old != it {
				c.have[t][name] = old
			}
		}
	}
	c.answers = nil
}

// standing is what stands in the folder of a resource; nil if nothing does.
func (c *content) standing(ref fleet.Ref) *item {
	if all, whole := c.whole[ref.Type]; whole {
		return all[ref.Name]
	}
	return c.named[fileOf(ref)]
}

// found takes in a file that is in the folder. One that cannot be read holds nothing.
func (c *content) found(file string, text []byte) {
	var response struct {
		Version   string            `json:"version_info"`
		Resources []json.RawMessage `json:"resources"`
	}
	read := json.Unmarshal(text, &response) == nil
	if read {
		c.versions[file] = response.Version
	}
	for t, whole := range wholes {
		if file != whole {
			continue
		}
		for _, body := range response.Resources {
			var named struct {
				Name string `json:"name"`
			}
			if json.Unmarshal(body, &named) == nil && named.Name != "" {
				c.whole[t][named.Name] = c.foundItem(body)
			}
		}
		if !read {
			delete(c.versions, file)
		}
		return
	}
	it := &item{}
	if read && len(response.Resources) == 1 {
		it = c.foundItem(response.Resources[0])
	}
	c.named[file] = it
}

func (c *content) foundItem(body json.RawMessage) *item {
	var compact bytes.Buffer
	var tree any
	if json.Compact(&compact, body) != nil || json.Unmarshal(body, &tree) != nil {
		return &item{}
	}
	it := &item{body: compact.Bytes()}
	eachPath(tree, func(at string) {
		if file, below := strings.CutPrefix(at, c.seenAs+"/"); below {
			it.files = append(it.files, file)
		}
	})
	return it
}

// eachPath calls f for the path of each source that is a file.
func eachPath(tree any, f func(string)) {
	switch v := tree.(type) {
	case []any:
		for _, x := range v {
			eachPath(x, f)
		}
	case map[string]any:
		for key, x := range v {
			if source, ok := x.(map[string]any); ok && key == "path_config_source" {
				if at, ok := source["path"].(string); ok {
					f(at)
				}
			}
			eachPath(x, f)
		}
	}
}

// item makes of a resource what is written of it.
func (c *content) item(t fleet.Type, version string, value *anypb.Any) (*item, error) {
	if value.GetTypeUrl() != t.URL() {
		return nil, fmt.Errorf("it is a %s: %w", value.GetTypeUrl(), fleet.ErrInvalid)
	}
	m, err := value.UnmarshalNew()
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", fleet.ErrInvalid)
	}
	refs, err := resource.Redirect(m, func(ref fleet.Ref) *core.PathConfigSource {
		// Without watched_directory: with one, each change of a folder has Envoy read every file of it.
		return &core.PathConfigSource{Path: path.Join(c.seenAs, fileOf(ref))}
	})
	if err != nil {
		return nil, err
	}
	value, err = anypb.New(m)
	if err != nil {
		return nil, err
	}
	loose, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("it cannot be written as JSON: %w", fleet.ErrInvalid)
	}
	var compact, body bytes.Buffer // protojson varies its space
	if err := json.Compact(&compact, loose); err != nil {
		return nil, err
	}
	json.HTMLEscape(&body, compact.Bytes()) // as it stands in a file
	it := &item{version: version, body: body.Bytes(), refs: refs}
	for _, ref := range refs {
		it.files = append(it.files, fileOf(ref))
	}
	return it, nil
}

// none is what is written of a name that the server has nothing of. Endpoints can be none; of all else Envoy is told nothing, and
// does not wait.
func none(ref fleet.Ref) *item {
	if ref.Type != fleet.Endpoint {
		return &item{}
	}
	body, _ := json.Marshal(map[string]string{"@type": ref.Type.URL(), "cluster_name": ref.Name}) //nolint:errcheck // of texts
	return &item{body: body}
}

// wanted are the resources that Envoy reads by their names, because of what the server has sent.
func (c *content) wanted() map[fleet.Ref]bool {
	all := map[fleet.Ref]bool{}
	var add func(*item)
	add = func(it *item) {
		if it == nil {
			return
		}
		for _, ref := range it.refs {
			if !all[ref] {
				all[ref] = true
				add(c.have[ref.Type][ref.Name])
				add(c.standing(ref))
			}
		}
	}
	for t := range wholes {
		for name, it := range c.have[t] {
			add(it)
			add(c.whole[t][name]) // stays until it is ready
		}
	}
	for name := range c.have[fleet.Runtime] {
		all[fleet.Ref{Type: fleet.Runtime, Name: name}] = true
	}
	for _, a := range c.answers {
		for _, x := range a.items {
			add(x.before)
		}
	}
	return all
}

// lacking are those that the server has not answered for yet.
func (c *content) lacking() (all []fleet.Ref) {
	for ref := range c.wanted() {
		if c.have[ref.Type][ref.Name] == nil {
			all = append(all, ref)
		}
	}
	slices.SortFunc(all, func(a, b fleet.Ref) int { return cmp.Or(cmp.Compare(a.Type, b.Type), strings.Compare(a.Name, b.Name)) })
	return all
}

// ready reports whether all that an item names has come.
func (c *content) ready(it *item) bool { return c.readyBut(it, map[*item]bool{}) }

// readyBut takes those as ready that are being looked at: an extension may name itself.
func (c *content) readyBut(it *item, looked map[*item]bool) bool {
	looked[it] = true
	for _, ref := range it.refs {
		if x := c.have[ref.Type][ref.Name]; x == nil || !looked[x] && !c.readyBut(x, looked) {
			return false
		}
	}
	return true
}

// order is that in which files are written: what is named before what names it, clusters before routes, routes before listeners.
var order = []fleet.Type{fleet.Secret, fleet.Endpoint, fleet.Runtime, fleet.Cluster, fleet.Extension, fleet.Route, fleet.Listener}

// write brings the folder to what the server has sent, as far as that is ready. It tells which files have changed. At each moment no
// file names one that is missing.
func (c *content) write() (changed []string, err error) {
	if err := c.folder.there(); err != nil {
		return nil, err
	}
	wanted := c.wanted()
	refs := slices.SortedFunc(maps.Keys(wanted), func(a, b fleet.Ref) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range order {
		if _, whole := wholes[t]; whole {
			err = c.writeWhole(t, &changed)
		} else {
			for _, ref := range refs {
				if ref.Type == t && err == nil {
					err = c.writeNamed(ref, &changed)
				}
			}
		}
		if err != nil {
			return changed, err
		}
	}
	if c.complete {
		err = c.prune(wanted)
	}
	return changed, err
}

// writeNamed writes a resource's own file, behind those that it names; above are those that name it.
func (c *content) writeNamed(ref fleet.Ref, changed *[]string, above ...fleet.Ref) error {
	it, file := c.have[ref.Type][ref.Name], fileOf(ref)
	if _, whole := wholes[ref.Type]; whole || it == nil || !c.ready(it) || c.named[file] == it && c.folder.intact(file) || slices.Contains(above, ref) {
		return nil
	}
	for _, below := range it.refs { // of its own type too
		if err := c.writeNamed(below, changed, append(above, ref)...); err != nil {
			return err
		}
	}
	var bodies []json.RawMessage
	if it.body != nil {
		bodies = []json.RawMessage{it.body}
	}
	if err := c.put(ref.Type, file, bodies, changed); err != nil {
		return err
	}
	c.named[file] = it
	return nil
}

// begins reports whether the file of all of a type is not there yet, and something lacks what it names. An Envoy that starts finds all or no file.
func (c *content) begins(t fleet.Type) bool {
	if c.versions[wholes[t]] != "" {
		return false
	}
	for _, it := range c.have[t] {
		if !c.ready(it) {
			return true
		}
	}
	return false
}

func (c *content) writeWhole(t fleet.Type, changed *[]string) error {
	if !c.answered[t] || !c.partial && c.begins(t) {
		return nil
	}
	next := byName{}
	for name, it := range c.have[t] {
		if c.ready(it) {
			next[name] = it
		} else if old := c.whole[t][name]; old != nil {
			next[name] = old
		}
	}
	for name, old := range c.whole[t] {
		if c.have[t][name] == nil && !c.complete && !c.gone[t][name] {
			next[name] = old
		}
	}
	var bodies []json.RawMessage
	for _, name := range slices.Sorted(maps.Keys(next)) {
		bodies = append(bodies, next[name].body)
	}
	if err := c.put(t, wholes[t], bodies, changed); err != nil {
		return err
	}
	c.whole[t] = next
	return nil
}

// put writes a file, unless it is the same.
func (c *content) put(t fleet.Type, file string, bodies []json.RawMessage, changed *[]string) error {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s\n", c.seenAs, file)
	for _, b := range bodies {
		hash.Write(b)
		hash.Write([]byte{'\n'})
	}
	version := hex.EncodeToString(hash.Sum(nil)[:12])
	if c.versions[file] == version && c.folder.intact(file) {
		return nil
	}
	text, err := json.MarshalIndent(struct {
		Version   string            `json:"version_info"`
		URL       string            `json:"type_url"`
		Resources []json.RawMessage `json:"resources"`
	}{version, t.URL(), append([]json.RawMessage{}, bodies...)}, "", "  ")
	if err != nil {
		return err
	}
	if len(*changed) == 0 {
		if err := c.begin(); err != nil {
			return err
		}
	}
	if err := c.folder.put(file, append(text, '\n')); err != nil {
		return err
	}
	c.versions[file] = version
	*changed = append(*changed, file)
	return nil
}

// prune removes the files that nothing names any more.
func (c *content) prune(wanted map[fleet.Ref]bool) error {
	keep := map[string]bool{}
	for ref := range wanted {
		keep[fileOf(ref)] = true
	}
	var add func(*item)
	add = func(it *item) {
		if it == nil {
			return
		}
		for _, file := range it.files {
			if !keep[file] {
				keep[file] = true
				add(c.named[file])
			}
		}
	}
	for t := range wholes {
		for _, it := range c.whole[t] {
			add(it)
		}
	}
	for file := range keep {
		add(c.named[file])
	}
	for _, a := range c.answers {
		for _, x := range a.items {
			add(x.before)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(c.named)) {
		if keep[file] {
			continue
		}
		if err := c.folder.remove(file); err != nil {
			return err
		}
		delete(c.named, file)
		delete(c.versions, file)
	}
	return nil
}
