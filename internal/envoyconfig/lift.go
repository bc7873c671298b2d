package envoyconfig

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/resource"
)

// fromADS is the source of what the control plane serves.
func fromADS() object { return object{"ads": object{}, "resource_api_version": "V3"} }

// lift makes resources of their own of what stands in others, and turns what was looked up
// in the proxy's bootstrap into something that it asks for.
func (r *reader) lift() error {
	for _, ref := range r.refs() {
		if body := r.taken[ref]; ref.Type == fleet.Listener || ref.Type == fleet.Cluster {
			r.keys(ref, body)
		}
	}
	for _, ref := range r.refs() {
		if err := r.step(); err != nil {
			return err
		}
		body := r.taken[ref]
		r.staticSecrets(body, false)
		r.sources(ref, body)
		switch ref.Type {
		case fleet.Listener:
			if r.RDS {
				r.routes(ref.Name, body)
			}
		case fleet.Cluster:
			if r.EDS {
				r.endpoints(ref.Name, body)
			}
		case fleet.Secret:
			if redacted(body) {
				delete(r.taken, ref)
				r.leave(ref.Type.Slug()+"/"+ref.Name, `a dump does not hold what is secret: write it with "fairlead secret"`)
			}
		}
	}
	return nil
}

func (r *reader) refs() []fleet.Ref {
	return slices.SortedFunc(maps.Keys(r.taken), func(a, b fleet.Ref) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
	})
}

// free is a name that no resource of the type has. It looks on from the number that it found last.
func (r *reader) free(t fleet.Type, name string) string {
	for i := max(1, r.numbers[fleet.Ref{Type: t, Name: name}]); ; i++ {
		candidate := name
		if i > 1 {
			candidate = fmt.Sprintf("%s-%d", name, i)
		}
		if _, there := r.taken[fleet.Ref{Type: t, Name: candidate}]; !there {
			r.numbers[fleet.Ref{Type: t, Name: name}] = i
			return candidate
		}
	}
}

// timesNamed is about how often the name of what is made of a part is written.
const timesNamed = 4

const tooMany = "stay in it: they are so many that their names would be far longer than what was sent"

// takePart takes a part of a resource as one of its own.
func (r *reader) takePart(part, of fleet.Ref, o placed) {
	r.take(part, o)
	r.wholes[part] = []fleet.Ref{of}
}

// hasPart reports whether the part was taken already, of another resource or by itself.
func (r *reader) hasPart(part, of fleet.Ref, body object) bool {
	if was, there := r.taken[part]; !there || !reflect.DeepEqual(was, body) {
		return false
	}
	if all := r.wholes[part]; len(all) > 0 && all[len(all)-1] != of { // what stands in the text by itself is a part of nothing
		r.wholes[part] = append(all, of)
	}
	return true
}

// routes takes the routes out of a listener's HTTP connection managers.
func (r *reader) routes(listener string, body object) {
	of := fleet.Ref{Type: fleet.Listener, Name: listener}
	each(r.at[of].at, body, func(p placed) {
		o := p.object
		if !strings.HasSuffix(text(o, "@type"), ".HttpConnectionManager") {
			return
		}
		routes := child(o, "route_config")
		if routes == nil {
			return
		}
		name := text(routes, "name")
		if name == "" {
			name = listener
		}
		if len(name) > resource.MaxName {
			return // nobody could ask for it: it stays where it is
		}
		if !r.room(timesNamed * (len(name) + len(listener))) {
			r.stays(fleet.Listener.Slug()+"/"+listener, "its routes "+tooMany)
			return
		}
		set(routes, "name", name)
		if !r.hasPart(fleet.Ref{Type: fleet.Route, Name: name}, of, routes) {
			if free := r.free(fleet.Route, name); free != name {
				r.stays(fleet.Route.Slug()+"/"+free, fmt.Sprintf("in listeners/%s its name was %s, which other routes have too", listener, name))
				name = free
			}
			set(routes, "name", name)
			r.takePart(fleet.Ref{Type: fleet.Route, Name: name}, of, p.child("route_config"))
		}
		drop(o, "route_config")
		set(o, "rds", object{"route_config_name": name, "config_source": fromADS()})
	})
}

// endpoints takes the endpoints out of a cluster whose endpoints are addresses; names are
// for DNS, and the proxy looks them up.
func (r *reader) endpoints(cluster string, body object) {
	kind, _ := get(body, "type").(string)
	of := fleet.Ref{Type: fleet.Cluster, Name: cluster}
	in := placed{body, r.at[of].at}.child("load_assignment")
	load := in.object
	if load == nil || has(body, "cluster_type") || kind != "" && kind != "STATIC" || get(body, "type") != nil && kind == "" {
		return
	}
	name := text(load, "cluster_name")
	if name == "" {
		name = cluster
	}
	if len(name) > resource.MaxName {
		return
	}
	set(load, "cluster_name", name)
	if !r.hasPart(fleet.Ref{Type: fleet.Endpoint, Name: name}, of, load) {
		name = r.free(fleet.Endpoint, name)
		set(load, "cluster_name", name)
		r.takePart(fleet.Ref{Type: fleet.Endpoint, Name: name}, of, in)
	}
	eds := object{"eds_config": fromADS()}
	if name != cluster {
		eds["service_name"] = name
	}
	drop(body, "load_assignment")
	set(body, "type", "EDS")
	set(body, "eds_cluster_config", eds)
}

// keys makes secrets of certificates where private keys stand in a listener or a cluster, in which the API takes none:
// of all of a context, as Envoy takes no others beside those that it asks for.
func (r *reader) keys(ref fleet.Ref, body object) {
	of := ref.Type.Slug() + "/" + ref.Name
	each(r.at[ref].at, body, func(p placed) {
		o := p.object
		certificates := p.elements("tls_certificates")
		if !slices.ContainsFunc(certificates, keyInTheClear) || len(certificates) < len(list(o, "tls_certificates")) {
			return // of what is no certificate the API says what is wrong
		}
		if !r.room(timesNamed * len(certificates) * len(ref.Name)) {
			r.leave(of, "its certificates "+tooMany)
			return
		}
		sds := list(o, "tls_certificate_sds_secret_configs")
		for _, c := range certificates {
			name := r.free(fleet.Secret, ref.Name+"-tls")
			secret := fleet.Ref{Type: fleet.Secret, Name: name}
			r.wholes[secret] = []fleet.Ref{ref}
			r.taken[secret], r.at[secret] = object{"name": name, "tls_certificate": c.object}, where{c.at, "/tls_certificate"}
			sds = append(sds, object{"name": name, "sds_config": fromADS()})
			what := "its certificate with the private key"
			if !keyInTheClear(c) {
				what = "its certificate beside one with the private key"
			}
			r.stays(of, what+" became secrets/"+name)
		}
		drop(o, "tls_certificates")
		set(o, "tls_certificate_sds_secret_configs", sds)
	})
}

func keyInTheClear(certificate placed) bool {
	key := child(certificate.object, "private_key")
	return has(key, "inline_string") || has(key, "inline_bytes")
}

// staticSecrets lets the control plane serve the secrets that were looked up in the
// bootstrap: those that are named without a source. They stand below a field that holds one: one, a list, or the values of a map.
func (r *reader) staticSecrets(v any, held bool) {
	switch v := v.(type) {
	case object:
		if held {
			r.staticSecret(v)
		}
		for field, inner := range v {
			if nested(inner) {
				r.staticSecrets(inner, held || resource.HoldsSecret(resource.SnakeCase(field)))
			}
		}
	case []any:
		for _, item := range v {
			r.staticSecrets(item, held)
		}
	}
}

// staticSecret gives what names a secret, and has nothing but its name, the control plane as its source.
func (r *reader) staticSecret(o object) {
	if _, static := r.taken[fleet.Ref{Type: fleet.Secret, Name: text(o, "name")}]; static && len(o) == 1 {
		set(o, "sds_config", fromADS())
	}
}

// sources names what asks somewhere else than the control plane, and the files that the proxies read.
func (r *reader) sources(ref fleet.Ref, body object) {
	of, told := ref.Type.Slug()+"/"+ref.Name, 0
	more := func() bool { told++; return told <= mostFaults }
	each(nil, body, func(o placed) {
		for _, source := range []string{"api_config_source", "path_config_source"} {
			if has(o.object, source) && more() {
				r.stays(of, fmt.Sprintf("its %s has a source of its own (%s), which the proxies go on asking", o.at.name(), source))
			}
		}
		for _, field := range []string{"certificate_chain", "private_key", "trusted_ca"} {
			if file := text(child(o.object, field), "filename"); file != "" && more() {
				r.tell(of, r.at[ref].place(o.at.member(spelled(o.object, field)).String()), "the proxies read this from their own file "+file+`, which nobody here checks: "fairlead secret" makes a secret of it`, true)
			}
		}
	})
	if told > mostFaults {
		r.stays(of, fmt.Sprintf("%d more of its fields have a source or a file of their own", told-mostFaults))
	}
}

// mark is what an Envoy shows in the place of a secret.
const mark = "[redacted]"

func redacted(body object) (found bool) {
	each(nil, body, func(p placed) {
		o := p.object
		found = found || text(o, "inline_string") == mark || text(o, "inline_bytes") == base64.StdEncoding.EncodeToString([]byte(mark))
	})
	return found
}
