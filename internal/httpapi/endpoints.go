package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/internal/findings"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/jsonpointer"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

const (
	maxLocality = 128     // bytes of each part
	maxMetadata = 4 << 10 // bytes of an endpoint's metadata
	noLocality  = "-"     // in a path
)

// ListEndpoints implements listEndpoints.
func (a *API) ListEndpoints(ctx context.Context, c *call, r oapi.ListEndpointsRequestObject) (oapi.ListEndpointsResponseObject, error) {
	list := "endpoints/" + r.Cluster
	if err := text("cluster", r.Cluster); err != nil {
		return nil, err
	}
	from, err := parseCursor(list, r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	rows, more, err := a.store.Endpoints(ctx, c.tenant.ID, c.fleet.ID, r.Cluster, from.Name, pageLimit(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	out := oapi.ListEndpoints200JSONResponse{Items: make([]oapi.Endpoint, len(rows))}
	for i, row := range rows {
		if out.Items[i], err = endpointOf(row); err != nil {
			return nil, err
		}
	}
	if more {
		out.NextCursor = next(cursor{List: list, Name: rows[len(rows)-1].Address})
	}
	return out, nil
}

func endpointOf(e store.Endpoint) (oapi.Endpoint, error) {
	out := oapi.Endpoint{
		Address: e.Address, Weight: e.Weight, Health: oapi.EndpointHealth(e.Health), UpdatedAt: e.UpdatedAt, UpdatedBy: e.UpdatedBy,
		ExpiresAt: optionalTime(e.ExpiresAt), Held: optional(e.Held),
	}
	if e.Locality != (store.Locality{}) {
		out.Locality = &oapi.EndpointLocality{Region: optional(e.Locality.Region), Zone: optional(e.Locality.Zone), SubZone: optional(e.Locality.SubZone)}
	}
	if e.Lease != (fleet.LeaseID{}) {
		id := e.Lease.String()
		out.Lease = &id
	}
	if e.Metadata == nil {
		return out, nil
	}
	out.Metadata = &oapi.EndpointMetadata{}
	return out, json.Unmarshal(e.Metadata, out.Metadata)
}

// WriteEndpoints implements writeEndpoints.
func (a *API) WriteEndpoints(ctx context.Context, c *call, r oapi.WriteEndpointsRequestObject) (oapi.WriteEndpointsResponseObject, error) {
	e := newEndpointReader(r.Cluster)
	for i, one := range deref(r.Body.Set) {
		e.put(one, func(field string) oapi.FieldError { return at(fmt.Sprintf("/set/%d%s", i, field)) })
	}
	for i, address := range deref(r.Body.Remove) {
		e.remove(address, nil, at(fmt.Sprintf("/remove/%d", i)))
	}
	result, err := a.writeEndpoints(ctx, c, e)
	a.toldRemoved(c, "writeEndpoints", result)
	return oapi.WriteEndpoints200JSONResponse(result), err
}

// PutEndpoint implements putEndpoint.
func (a *API) PutEndpoint(ctx context.Context, c *call, r oapi.PutEndpointRequestObject) (oapi.PutEndpointResponseObject, error) {
	e := newEndpointReader(r.Cluster)
	locality := e.locality(r.Locality)
	e.put(oapi.EndpointPut{Address: r.Address, Locality: &locality, Weight: r.Body.Weight, Health: r.Body.Health, Metadata: r.Body.Metadata, Lease: r.Body.Lease}, func(field string) oapi.FieldError {
		if field == "/address" {
			return ofParameter("address")
		}
		if strings.HasPrefix(field, "/locality") {
			return ofParameter("locality")
		}
		return at(field)
	})
	result, err := a.writeEndpoints(ctx, c, e)
	return oapi.PutEndpoint200JSONResponse(result), err
}

// DeleteEndpoint implements deleteEndpoint.
func (a *API) DeleteEndpoint(ctx context.Context, c *call, r oapi.DeleteEndpointRequestObject) (oapi.DeleteEndpointResponseObject, error) {
	e := newEndpointReader(r.Cluster)
	l := e.locality(r.Locality)
	e.remove(r.Address, &store.Locality{Region: deref(l.Region), Zone: deref(l.Zone), SubZone: deref(l.SubZone)}, ofParameter("address"))
	result, err := a.writeEndpoints(ctx, c, e)
	a.toldRemoved(c, "deleteEndpoint", result)
	return oapi.DeleteEndpoint200JSONResponse(result), err
}

// toldRemoved counts a request that removed endpoints: of what is gone no row says who wrote it last. The object is the operation and not the cluster,
// as a feed of many clusters would fill a tenant's kinds (mostDenialsOf).
func (a *API) toldRemoved(c *call, operation string, r oapi.EndpointWritten) {
	if r.Removed > 0 {
		a.told(c, endpointsRemove, operation)
	}
}

func at(pointer string) oapi.FieldError       { return oapi.FieldError{Pointer: &pointer} }
func ofParameter(name string) oapi.FieldError { return oapi.FieldError{Parameter: &name} }

// endpointReader reads endpoints as they are sent, and collects what is wrong with them.
type endpointReader struct {
	write  store.EndpointWrite
	seen   map[string]bool // addresses
	places []func(field string) oapi.FieldError
	faults []oapi.FieldError
}

func newEndpointReader(cluster string) *endpointReader {
	e := &endpointReader{write: store.EndpointWrite{Cluster: cluster}, seen: map[string]bool{}}
	e.texts(ofParameter("cluster"), cluster, maxName)
	return e
}

func (e *endpointReader) wrong(where oapi.FieldError, code, format string, args ...any) {
	where.Code, where.Detail = code, fmt.Sprintf(format, args...)
	e.faults = append(e.faults, where)
}

func (e *endpointReader) texts(where oapi.FieldError, s string, most int) {
	switch {
	case !plainText(s):
		e.wrong(where, "invalid_text", "a text is UTF-8 without NUL")
	case len(s) > most:
		e.wrong(where, "too_long", "at most %d bytes", most)
	}
}

// address reads an address, which stands once in a request.
func (e *endpointReader) address(s string, where oapi.FieldError) string {
	address, err := resource.ParseAddress(s)
	switch {
	case err != nil:
		e.wrong(where, "invalid_address", "%s", strings.TrimSuffix(err.Error(), ": "+fleet.ErrInvalid.Error()))
	case !plainText(address):
		e.wrong(where, "invalid_text", "a text is UTF-8 without NUL")
	case e.seen[address]:
		e.wrong(where, "duplicate", "the address %s stands twice in the request: an address is once in a cluster", address)
	}
	e.seen[address] = true
	return address
}

// locality reads one of a path.
func (e *endpointReader) locality(s string) (l oapi.EndpointLocality) {
	if s == noLocality {
		return l
	}
	parts := strings.Split(s, "/")
	if len(parts) > 3 || strings.Trim(s, "/") == "" {
		e.wrong(ofParameter("locality"), "invalid_locality", "write region/zone/sub_zone, with %%2F for each slash; what is not there may be left out at the end; - is no locality")
		return l
	}
	for i, to := range []**string{&l.Region, &l.Zone, &l.SubZone}[:len(parts)] {
		*to = &parts[i]
	}
	return l
}

func (e *endpointReader) put(p oapi.EndpointPut, place func(field string) oapi.FieldError) {
	out := store.Endpoint{Address: e.address(p.Address, place("/address")), Weight: 1, Health: store.Healthy}
	if p.Weight != nil {
		out.Weight = *p.Weight
	}
	if p.Health != nil {
		out.Health = store.Health(*p.Health)
	}
	if l := p.Locality; l != nil {
		out.Locality = store.Locality{Region: deref(l.Region), Zone: deref(l.Zone), SubZone: deref(l.SubZone)}
		e.texts(place("/locality/region"), out.Locality.Region, maxLocality)
		e.texts(place("/locality/zone"), out.Locality.Zone, maxLocality)
		e.texts(place("/locality/sub_zone"), out.Locality.SubZone, maxLocality)
	}
	if p.Metadata != nil && len(*p.Metadata) > 0 {
		var err error
		if out.Metadata, err = compactJSON(*p.Metadata); err != nil || len(out.Metadata) > maxMetadata {
			e.wrong(place("/metadata"), "too_long", "at most %d bytes", maxMetadata)
		}
		for filter, values := range *p.Metadata {
			if plainText(filter) && plainValue(values) {
				continue
			}
			e.wrong(place("/metadata/"+jsonpointer.Escape(filter)), "invalid_text", "a text is UTF-8 without NUL")
		}
	}
	if p.Lease != nil {
		var err error
		if out.Lease, err = fleet.ParseLeaseID(*p.Lease); err != nil {
			e.wrong(place("/lease"), "invalid_lease", "this is no id of a lease")
		}
	}
	e.write.Set, e.places = append(e.write.Set, out), append(e.places, place)
}

// compactJSON writes a value in the fewest bytes: as they are limited, "<" is one of them, and not six.
func compactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// plainValue reports whether all texts and keys of a value are plainText: the database keeps no NUL.
func plainValue(v any) bool {
	switch v := v.(type) {
	case string:
		return plainText(v)
	case []any:
		return !slices.ContainsFunc(v, func(x any) bool { return !plainValue(x) })
	case map[string]any:
		for key, x := range v {
			if !plainText(key) || !plainValue(x) {
				return false
			}
		}
	}
	return true
}

func (e *endpointReader) remove(address string, l *store.Locality, where oapi.FieldError) {
	e.write.Remove = append(e.write.Remove, store.EndpointKey{Address: e.address(address, where), Locality: l})
	if before := resource.MappedAddress(address); before != "" {
		e.write.Remove = append(e.write.Remove, store.EndpointKey{Address: before, Locality: l})
	}
}

func (e *endpointReader) problem() error {
	if len(e.faults) == 0 {
		return nil
	}
	return refuse(http.StatusBadRequest, "invalid_request", requestDetail, boundFaults(e.faults)...)
}

// writeEndpoints checks endpoints as their document would be, by whom the guard rules let write it, and writes them.
func (a *API) writeEndpoints(ctx context.Context, c *call, e *endpointReader) (oapi.EndpointWritten, error) {
	if err := e.problem(); err != nil {
		return oapi.EndpointWritten{}, err
	}
	if len(e.write.Set) > 0 {
		if err := a.judgeEndpoints(ctx, c, e); err != nil {
			return oapi.EndpointWritten{}, err
		}
	}
	c.leaveTurn()
	e.write.Actor = c.actor
	c.giveWay() // the next ones are read while the database writes
	r, err := a.store.WriteEndpoints(ctx, c.tenant.ID, c.fleet.ID, e.write)
	if err != nil {
		return oapi.EndpointWritten{}, e.refused(err)
	}
	out := oapi.EndpointWritten{Set: r.Set, Removed: r.Removed}
	if r.Unasked && !slices.Contains(c.fleet.StaticClusters, e.write.Cluster) && !slices.Contains(c.fleet.PrivateClusters, e.write.Cluster) {
		out.Warnings = &[]oapi.FieldError{unasked(e.write.Cluster)}
	}
	return out, nil
}

// unasked warns of endpoints that no cluster of the fleet asks for, by the code that findings have for a document of that kind.
func unasked(cluster string) oapi.FieldError {
	w := ofParameter("cluster")
	w.Code = string(findings.Unreachable)
	w.Detail = fmt.Sprintf("no cluster of the fleet asks for %s, so they are not used: write a cluster of that name or service_name, "+
		"or list it in the fleet's static_clusters if it stands in the proxies' bootstrap", called(fleet.Ref{Type: fleet.Endpoint, Name: cluster}))
	return w
}

// judgeEndpoints compiles what is sent.
func (a *API) judgeEndpoints(ctx context.Context, c *call, e *endpointReader) error {
	rows := make([]resource.Endpoint, len(e.write.Set))
	for i, s := range e.write.Set {
		rows[i] = resource.Endpoint{Address: s.Address, Region: s.Locality.Region, Zone: s.Locality.Zone, SubZone: s.Locality.SubZone, Weight: uint32(s.Weight), Health: string(s.Health), Metadata: s.Metadata} //nolint:gosec // the contract bounds it
	}
	body, err := resource.AssignmentOf(e.write.Cluster, rows)
	if err != nil {
		return err
	}
	var out resource.Compiled
	err = a.compute(ctx, c, sizeKind(len(body)), func(step func() error) (err error) {
		out, err = a.compiler.Compile(fleet.Key{Tenant: c.tenant.ID, Fleet: c.fleet.ID}, withStep(resource.Document{Type: fleet.Endpoint, Name: e.write.Cluster, Body: body, Private: c.fleet.PrivateClusters}, step))
		return err
	})
	var faults resource.Errors
	if errors.As(err, &faults) {
		for _, f := range faults {
			e.wrong(e.placeOf(f.Pointer), f.Code, "%s", f.Detail)
		}
		p := refuse(http.StatusUnprocessableEntity, "invalid_resource", e.faults[0].Detail, boundFaults(e.faults)...)
		p.cause = err
		return p
	}
	if err != nil {
		return err
	}
	not := a.refusedFields(c, out.Guarded, "")
	for i := range not {
		where := e.placeOf(deref(not[i].Pointer))
		not[i].Pointer, not[i].Parameter = where.Pointer, where.Parameter
	}
	if len(not) > 0 {
		return errGuarded(not)
	}
	return nil
}

var inAssignment = regexp.MustCompile(`^/body/endpoints/(\d+)(?:/(locality)(/\w+)?)?(?:/lb_endpoints/0(?:/(endpoint|metadata|load_balancing_weight|health_status)(?:/filter_metadata(.*))?)?)?`)

// placeOf is where in what was sent stands what the assignment has at the pointer.
func (e *endpointReader) placeOf(pointer string) oapi.FieldError {
	m := inAssignment.FindStringSubmatch(pointer)
	if m == nil {
		return ofParameter("cluster") // of the name that is in it
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n >= len(e.places) {
		return at("")
	}
	switch {
	case m[2] != "":
		return e.places[n]("/locality" + m[3])
	case m[4] == "endpoint":
		return e.places[n]("/address")
	case m[4] == "metadata":
		return e.places[n]("/metadata" + m[5])
	case m[4] == "load_balancing_weight":
		return e.places[n]("/weight")
	case m[4] == "health_status":
		return e.places[n]("/health")
	}
	return e.places[n]("")
}

// refused gives the store's errors their words.
func (e *endpointReader) refused(err error) error {
	var lease *store.NoLeaseError
	var full *store.NoRoomError
	switch {
	case errors.As(err, &lease):
		detail := fmt.Sprintf("there is no lease %s (any more): take another one, and put the endpoints with its id", lease.Lease)
		var faults []oapi.FieldError
		for i, s := range e.write.Set {
			if s.Lease.String() == lease.Lease {
				f := e.places[i]("/lease")
				f.Code, f.Detail = "lease_ended", detail
				faults = append(faults, f)
			}
		}
		p := refuse(http.StatusConflict, "lease_ended", detail, boundFaults(faults)...)
		p.cause = err
		return p
	case errors.As(err, &full):
		return noRoom(err, full)
	}
	return err
}

func noRoom(err error, full *store.NoRoomError) error {
	p := refuse(http.StatusConflict, "no_room", full.Detail+": remove some, or spread them over several")
	p.cause = err
	return p
}

// TakeLease implements takeLease.
func (a *API) TakeLease(ctx context.Context, c *call, r oapi.TakeLeaseRequestObject) (oapi.TakeLeaseResponseObject, error) {
	ttl, err := parseAge("/ttl", &r.Body.Ttl, store.LeastLease, store.MostLease)
	if err != nil {
		return nil, err
	}
	l, err := a.store.TakeEndpointLease(ctx, c.tenant.ID, c.fleet.ID, c.actor, store.EndpointLease{ID: fleet.NewLeaseID(), TTL: ttl, KeepLast: deref(r.Body.KeepLast)})
	var full *store.NoRoomError
	if errors.As(err, &full) {
		return nil, noRoom(err, full)
	}
	if err != nil {
		return nil, err
	}
	return oapi.TakeLease201JSONResponse(leaseOf(l)), nil
}

func leaseOf(l store.EndpointLease) oapi.Lease {
	return oapi.Lease{Id: l.ID.String(), Ttl: ageText(l.TTL.Truncate(time.Second)), KeepLast: l.KeepLast, ExpiresAt: l.ExpiresAt}
}

// RenewLease implements renewLease.
func (a *API) RenewLease(ctx context.Context, c *call, r oapi.RenewLeaseRequestObject) (oapi.RenewLeaseResponseObject, error) {
	id, err := leaseID(r.Id)
	if err != nil {
		return nil, err
	}
	c.giveWay() // those that come now go together with the next statement
	l, err := a.store.RenewEndpointLease(ctx, c.tenant.ID, c.fleet.ID, id)
	if err != nil {
		return nil, noSuchLease(err, r.Id)
	}
	return oapi.RenewLease200JSONResponse(leaseOf(l)), nil
}

// EndLease implements endLease.
func (a *API) EndLease(ctx context.Context, c *call, r oapi.EndLeaseRequestObject) (oapi.EndLeaseResponseObject, error) {
	id, err := leaseID(r.Id)
	if err != nil {
		return nil, err
	}
	if err := a.store.EndEndpointLease(ctx, c.tenant.ID, c.fleet.ID, c.actor, id); err != nil {
		return nil, noSuchLease(err, r.Id)
	}
	return oapi.EndLease204Response{}, nil
}

// leaseID reads an id of a path: what cannot be one is not there.
func leaseID(s string) (fleet.LeaseID, error) {
	id, err := fleet.ParseLeaseID(s)
	if err != nil {
		return id, noSuchLease(fmt.Errorf("%w: %w", fleet.ErrNotFound, err), s)
	}
	return id, nil
}

func noSuchLease(err error, id string) error {
	return missing(err, oapi.MissingLease, fmt.Sprintf("there is no lease %q in this fleet (any more): take another one, and put the endpoints again", id))
}
