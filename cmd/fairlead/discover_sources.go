package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	client "fairlead/clients/go"
	"fairlead/internal/resource"
)

// mostList bounds what is read of a file, in bytes.
const mostList = 16 << 20

// fileSource is a list in a file.
type fileSource struct {
	path, cluster string

	seen os.FileInfo // when it was read last
	last map[string][]client.EndpointPut

	changed os.FileInfo // when it had changed last
	changes int         // looks in a row that found it changed
}

const (
	// fileSettles is for how long a file that has changed has to stay as it is before it is read: half of a list is a list of which endpoints have gone.
	fileSettles = time.Second
	// mostChanges is how often in a row that is waited for: one that changes all the time is read as it is.
	mostChanges = 5
)

// errChanges: the file may be half written.
var errChanges = errors.New("the file has just changed")

func sameFile(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// listed is an endpoint in a list.
type listed struct {
	Cluster  string                   `json:"cluster"`
	Address  string                   `json:"address"`
	Locality *client.EndpointLocality `json:"locality"`
	Weight   *int                     `json:"weight"`
	Health   *client.EndpointHealth   `json:"health"`
	Metadata *client.EndpointMetadata `json:"metadata"`
}

// read reads the file where it has changed, and has not changed since the look before; else that is errChanges. The first time it reads what there is:
// then nothing can have gone.
func (f *fileSource) read(context.Context) (map[string][]client.EndpointPut, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular(): // a pipe is waited for, whatever ends the program, and a device may never end
		return nil, fmt.Errorf("%s is no regular file", f.path)
	case sameFile(info, f.seen):
		f.changed, f.changes = nil, 0
		return f.last, nil
	case f.seen != nil && !sameFile(info, f.changed) && f.changes < mostChanges:
		f.changed, f.changes = info, f.changes+1
		return nil, errChanges
	}
	if info.Size() > mostList {
		return nil, fmt.Errorf("%s is larger than %d bytes", f.path, mostList)
	}
	b, err := os.ReadFile(f.path)
	if err != nil {
		return nil, err
	}
	var items []listed
	if err := readList(b, &items); err != nil {
		return nil, fmt.Errorf("%s is no list of endpoints: %w", f.path, err)
	}
	out, at := map[string][]client.EndpointPut{}, map[string]int{}
	for i, e := range items {
		cluster := e.Cluster
		if cluster == "" {
			cluster = f.cluster
		}
		if one, err := resource.ParseAddress(e.Address); err == nil { // the API tells what is wrong with another one
			e.Address = one
		}
		switch key := cluster + " " + e.Address; {
		case cluster == "":
			return nil, fmt.Errorf("%s: [%d].cluster: say whose endpoint it is, or for all with --cluster", f.path, i)
		case e.Address == "":
			return nil, fmt.Errorf("%s: [%d].address: it is missing", f.path, i)
		case at[key] > 0:
			return nil, fmt.Errorf("%s: [%d].address: %s stands in [%d] too: an address is once in a cluster", f.path, i, e.Address, at[key]-1)
		default:
			at[key] = i + 1
		}
		out[cluster] = append(out[cluster], client.EndpointPut{Address: e.Address, Locality: e.Locality, Weight: e.Weight, Health: e.Health, Metadata: e.Metadata})
	}
	f.seen, f.last, f.changes = info, out, 0
	return out, nil
}

// readList reads a list in JSON or YAML. What is wrong with it is told in the words of who writes it.
func readList(b []byte, items *[]listed) error {
	if !json.Valid(b) {
		if all := splitYAML(b); len(all) > 1 { // the parser reads the first and is silent about the others, whose endpoints would be taken for gone
			return fmt.Errorf("line %d: a second YAML document begins here (---), and one is read: put all endpoints into one list", all[1].line)
		}
	}
	if bytes.Contains(b, []byte("<<")) && !json.Valid(b) {
		// The parser takes a key beside a merge key for one that stands twice, where it is the one that wins.
		merged, err := resource.ToJSON(resource.YAML, b)
		if err != nil {
			return err
		}
		b = merged
	}
	raw, err := yaml.YAMLToJSONStrict(b)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err = d.Decode(items)
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return plainly(err)
	case wrong.Field == "":
		return errors.New(`write a list of objects, such as [{"address": "10.0.0.7:8080"}]`)
	}
	must := "a text, in quotes where it looks like a number"
	switch wrong.Type.Kind() {
	case reflect.Int:
		must = "a whole number"
	case reflect.Struct, reflect.Map:
		must = "an object"
		if wrong.Field == "locality" {
			must = "an object, such as {region: eu-west-1, zone: eu-west-1a, sub_zone: rack-1}"
		}
	}
	kind := cmp.Or(map[string]string{"array": "a list", "object": "an object", "string": "a text", "bool": "a boolean"}[wrong.Value], "a "+wrong.Value)
	return fmt.Errorf("%s: this must be %s, not %s", wrong.Field, must, kind)
}

// plainly leaves out the name of the package that says it.
func plainly(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

const (
	// dnsTimeout bounds a look-up.
	dnsTimeout = 5 * time.Second
	// mostRecords bounds what SRV records lead to, which may be thousands of targets with thousands of addresses each: more than a cluster holds.
	mostRecords = 30_000
)

// dnsSource are the records of a name.
type dnsSource struct {
	name, cluster string
	srv           bool
	port          uint16
	resolver      *net.Resolver
}

func newDNSSource(name, cluster string, srv bool, port uint16, server string) *dnsSource {
	// Without StrictErrors a look-up of which one half fails, A or AAAA, is answered with the other half. Go's own resolver alone knows it.
	d := &dnsSource{name: name, cluster: cluster, srv: srv, port: port, resolver: &net.Resolver{PreferGo: true, StrictErrors: true}}
	if server != "" {
		var dial net.Dialer
		d.resolver.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dial.DialContext(ctx, network, server)
		}
	}
	return d
}

// read looks the name up. That it does not exist is an error, as that the server does not answer.
func (d *dnsSource) read(ctx context.Context) (map[string][]client.EndpointPut, error) {
	ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
	defer cancel()
	var out []client.EndpointPut
	var err error
	if d.srv {
		out, err = d.services(ctx)
	} else {
		out, err = d.hosts(ctx, d.name, d.port, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", d.name, err)
	}
	return map[string][]client.EndpointPut{d.cluster: out}, nil
}

func (d *dnsSource) hosts(ctx context.Context, name string, port uint16, weight *int) ([]client.EndpointPut, error) {
	all, err := d.resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, err
	}
	out, seen := make([]client.EndpointPut, 0, len(all)), make(map[netip.Addr]bool, len(all))
	for _, a := range all {
		if a = a.Unmap(); !seen[a] { // an AAAA record may hold what an A record says
			seen[a] = true
			out = append(out, client.EndpointPut{Address: netip.AddrPortFrom(a, port).String(), Weight: weight})
		}
	}
	return out, nil
}

// services are those of the lowest priority value, which comes first. A target that cannot be looked up fails all: what was read before is better
// than a part.
func (d *dnsSource) services(ctx context.Context) (out []client.EndpointPut, err error) {
	_, records, err := d.resolver.LookupSRV(ctx, "", "", d.name)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, r := range records {
		if r.Priority != records[0].Priority {
			break // they are sorted by it
		}
		weight := max(1, int(r.Weight))
		hosts, err := d.hosts(ctx, strings.TrimSuffix(r.Target, ".")+".", r.Port, &weight)
		if err != nil {
			return nil, fmt.Errorf("%s:%s: %w", r.Target, strconv.Itoa(int(r.Port)), err)
		}
		for _, h := range hosts {
			if !seen[h.Address] {
				seen[h.Address] = true
				out = append(out, h)
			}
		}
		if len(out) > mostRecords {
			return nil, fmt.Errorf("its targets have more than %d addresses", mostRecords)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("there are no records")
	}
	return out, nil
}
