package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/read"
	"fairlead/internal/redact"
	"fairlead/internal/resource"
	"fairlead/internal/store"
)

// ListResources implements listResources.
func (a *API) ListResources(ctx context.Context, c *call, r oapi.ListResourcesRequestObject) (oapi.ListResourcesResponseObject, error) {
	list, err := a.listResources(ctx, c, nil, oapi.ListResourcesOfTypeParams(r.Params))
	return oapi.ListResources200JSONResponse(list), err
}

// ListResourcesOfType implements listResourcesOfType.
func (a *API) ListResourcesOfType(ctx context.Context, c *call, r oapi.ListResourcesOfTypeRequestObject) (oapi.ListResourcesOfTypeResponseObject, error) {
	t := typeOf(r.Type)
	list, err := a.listResources(ctx, c, &t, r.Params)
	return oapi.ListResourcesOfType200JSONResponse(list), err
}

func (a *API) listResources(ctx context.Context, c *call, t *fleet.Type, p oapi.ListResourcesOfTypeParams) (out oapi.ResourceList, err error) {
	list := "resources"
	if t != nil {
		list += "/" + t.Slug()
	}
	filter := store.Filter{Type: t, Limit: pageLimit(p.Limit), NoBodies: p.Bodies != nil && !*p.Bodies}
	if filter.Prefix, err = prefixOf(p.Prefix); err != nil {
		return out, err
	}
	if filter.Labels, err = labelsOf(p.Label); err != nil {
		return out, err
	}
	at, err := a.asOf(ctx, c, p.Revision, p.At)
	if err != nil {
		return out, err
	}
	if at != nil {
		return a.pastResources(ctx, c, filter, *at, p.Cursor)
	}
	if filter.After, err = resourceCursor(list, p.Cursor); err != nil {
		return out, err
	}
	rows, more, err := a.store.Resources(ctx, c.tenant.ID, c.fleet.ID, filter)
	if err != nil {
		return out, err
	}
	if slices.ContainsFunc(rows, func(r store.Resource) bool { return r.Type == fleet.Secret }) {
		a.told(c, secretsRead, "listResources")
	}
	if out.Items, err = a.entries(ctx, c, rows, len(rows), filter.NoBodies, answerBytes); err != nil {
		return out, err
	}
	if told := len(out.Items); more || told < len(rows) {
		last := rows[told-1]
		out.NextCursor = next(cursor{List: list, Type: last.Type.Slug(), Name: last.Name, Variant: last.Variant})
	}
	return out, nil
}

// answerBytes is what the items of a page come to as they are told, but for the last one. What is stored grows where it is told: enums by their names.
const answerBytes = 8 << 20

// entries are rows as they are answered, one at least, until they come to so many bytes. They are a part of a page of so many.
func (a *API) entries(ctx context.Context, c *call, rows []store.Resource, page int, bare bool, most int) ([]oapi.Resource, error) {
	out, size := make([]oapi.Resource, 0, len(rows)), 0
	for i := range rows {
		size += rowBytes + len(rows[i].Body)
	}
	err := a.computeReading(ctx, c, partBytes(size, page), func(step func() error) error {
		for _, row := range rows {
			if err := step(); err != nil {
				return err
			}
			if most <= 0 {
				break
			}
			item, err := entryOf(row, bare)
			if err != nil {
				return err
			}
			out, most = append(out, item), most-entryBytes(item)
		}
		return nil
	})
	return out, err
}

// rowBytes is what is computed of a resource beside its body, as if it were bytes of that: a page of many small ones is large.
const rowBytes = 512

// entryBytes is what an item comes to, the fields of fixed length apart.
func entryBytes(r oapi.Resource) int {
	n := rowBytes + len(r.Name) + len(deref(r.Selector)) + len(deref(r.Description))
	if r.Body != nil {
		n += len(*r.Body)
	}
	for _, texts := range []*map[string]string{r.Labels, r.Values} {
		for key, value := range deref(texts) {
			n += 6 + len(key) + len(value)
		}
	}
	if r.Secret != nil {
		for _, name := range deref(r.Secret.Sans) {
			n += 3 + len(name)
		}
	}
	return n
}

// resourceCursor reads a cursor of a list that is in the order of types and names.
func resourceCursor(list string, at *string) (store.Cursor, error) {
	from, err := parseCursor(list, at)
	if err != nil || at == nil || *at == "" {
		return store.Cursor{}, err
	}
	t, ok := fleet.TypeFromSlug(from.Type)
	if !ok {
		return store.Cursor{}, badParameter("cursor", "invalid_cursor", "this is not a cursor of this list; begin again without one")
	}
	return store.Cursor{Type: t, Name: from.Name, Variant: from.Variant}, nil
}

// GetResource implements getResource.
func (a *API) GetResource(ctx context.Context, c *call, r oapi.GetResourceRequestObject) (oapi.GetResourceResponseObject, error) {
	if err := resourceName(r.Name, r.Params.Variant); err != nil {
		return nil, err
	}
	at, err := a.asOf(ctx, c, r.Params.Revision, r.Params.At)
	if err != nil {
		return nil, err
	}
	var row store.Resource
	if at != nil {
		row, err = a.store.ResourceOf(ctx, c.tenant.ID, c.fleet.ID, *at, store.Cursor{Type: typeOf(r.Type), Name: r.Name, Variant: deref(r.Params.Variant)})
		if errors.Is(err, fleet.ErrNotFound) {
			return nil, missing(err, oapi.MissingResource, fmt.Sprintf("the fleet had no %s at revision %d", resourceWords(typeOf(r.Type), r.Name, deref(r.Params.Variant)), *at))
		}
	} else {
		row, err = a.store.Resource(ctx, c.tenant.ID, c.fleet.ID, typeOf(r.Type), r.Name, deref(r.Params.Variant))
	}
	if err != nil {
		return nil, noSuchResource(err, typeOf(r.Type), r.Name, deref(r.Params.Variant))
	}
	if matches(deref(r.Params.IfNoneMatch), row.ETag()) {
		return notModified{etag: row.ETag()}, nil
	}
	if row.Type == fleet.Secret {
		a.told(c, secretsRead, "getResource")
	}
	items, err := a.entries(ctx, c, []store.Resource{row}, 1, false, answerBytes)
	if err != nil {
		return nil, err
	}
	body, tag := items[0], row.ETag()
	return oapi.GetResource200JSONResponse{Body: body, Headers: oapi.GetResource200ResponseHeaders{ETag: &tag}}, nil
}

// notModified is the 304, which has to carry the ETag.
type notModified struct{ etag string }

// VisitGetResourceResponse implements oapi.GetResourceResponseObject.
func (n notModified) VisitGetResourceResponse(w http.ResponseWriter) error {
	w.Header().Set("ETag", n.etag)
	w.WriteHeader(http.StatusNotModified)
	return nil
}

// matches reads an If-None-Match header: a list of ETags, or *.
func matches(header, etag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "W/")
		if part == "*" || part == etag {
			return true
		}
	}
	return false
}

// labelsOf reads what a resource's labels are to be.
func labelsOf(texts *[]string) (map[string]string, error) {
	labels := map[string]string{}
	for _, text := range deref(texts) {
		key, value, ok := strings.Cut(text, "=")
		if before, twice := labels[key]; !ok || key == "" || !plainText(text) || twice && before != value {
			return nil, badParameter("label", "invalid", "a label is key=value, and each key has one value")
		}
		labels[key] = value
	}
	return labels, nil
}

// prefixOf reads what names are to begin with.
func prefixOf(s *string) (string, error) { return deref(s), text("prefix", deref(s)) }

// resourceOf is the one way from a stored row to an answer. A Secret's body is sealed
// and stays where it is: what is told of it was written beside it.
func resourceOf(row store.Resource) (oapi.Resource, error) { return entryOf(row, false) }

// entryOf is resourceOf, with or without the body.
func entryOf(row store.Resource, bare bool) (oapi.Resource, error) {
	out := oapi.Resource{
		Type: oapi.ResourceType(row.Type.Slug()), Name: row.Name, Variant: optional(row.Variant), Selector: optional(row.Selector),
		Priority: optional(row.Priority), Description: optional(redact.Keys(row.Description)), Version: row.Version,
		Revision: int64(row.Revision), Etag: row.ETag(), CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, UpdatedBy: optional(row.UpdatedBy),
	}
	if row.TTL > 0 {
		ttl := ttlText(row.TTL)
		out.Ttl = &ttl
	}
	out.Delivery = deliveryOf(row.Derived)
	if len(row.Labels) > 0 {
		labels := shownLabels(row.Labels)
		out.Labels = &labels
	}
	if row.Type == fleet.Secret {
		var err error
		out.Secret, err = shownSecret(row.Name, row.Summary)
		return out, err
	}
	p, err := read.PlaceholdersOf(row)
	if err != nil {
		return out, err
	}
	out.Values = optionalMap(p.Values)
	if bare {
		return out, nil
	}
	body, err := resource.RenderWritten(row.Type, row.Body, p)
	if err != nil {
		return out, fmt.Errorf("render %s %q: %w", row.Type, row.Name, err)
	}
	raw := json.RawMessage(body)
	out.Body = &raw
	return out, nil
}

// deliveryOf is nil for what all clients get that ask for everything.
func deliveryOf(d fleet.Derived) *oapi.Delivery {
	if !d.ByName {
		return nil
	}
	by := oapi.Delivery(resource.DeliveryByName)
	return &by
}

// secretSummary is what is stored beside a Secret: what is told of it, and the guard rules
// that name something in it, for the body is sealed. Guarded is nil in rows that were
// written before there were rules.
type secretSummary struct {
	oapi.SecretSummary
	Guarded *[]resource.Rule `json:"guarded,omitempty"`
}

// summaryOf is what is stored beside a body: of a Secret what is told of it, else its placeholders, if it has some.
// sealedFor is the id of the key that a Secret is sealed with.
func summaryOf(c resource.Compiled, sealedFor string) ([]byte, error) {
	s := c.Secret
	if s == nil {
		if len(c.Placeholders.Texts) == 0 {
			return nil, nil
		}
		return json.Marshal(c.Placeholders)
	}
	out := oapi.SecretSummary{Kind: s.Kind, Subject: optional(s.Subject), NotAfter: optionalTime(s.NotAfter), Fingerprint: optional(s.Fingerprint), SealedFor: optional(sealedFor)}
	if len(s.SANs) > 0 {
		out.Sans = &s.SANs
	}
	rules := []resource.Rule{}
	for _, g := range c.Guarded {
		if !slices.Contains(rules, g.Rule) {
			rules = append(rules, g.Rule)
		}
	}
	return json.Marshal(secretSummary{out, &rules})
}

// typeOf reads a type that the contract has checked.
func typeOf(t oapi.ResourceType) fleet.Type {
	out, ok := fleet.TypeFromSlug(string(t))
	if !ok {
		panic("httpapi: the contract and package fleet name different types: " + string(t))
	}
	return out
}

func resourceName(name string, variant *string) error {
	if err := text("name", name); err != nil {
		return err
	}
	return text("variant", deref(variant))
}
