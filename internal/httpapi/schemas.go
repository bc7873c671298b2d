package httpapi

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"fairlead/internal/compute"
	"fairlead/internal/envoyversion"
	"fairlead/internal/fleet"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/schema"
)

const (
	schemasPath = "/v1/schemas"
	schemaMedia = "application/schema+json"
	// schemaAge is how long a client uses a schema without asking again: after an update it may complete by the last
	// one for as long. What is written is judged by the server.
	schemaAge      = "private, max-age=3600"
	maxMessageName = 256 // of the name of a message, in openapi.yaml
)

// schemaDocuments is where they are.
var schemaDocuments = schema.Documents{Types: schemasPath + "/type/", Version: envoyversion.Newest()}

// GetSchemas implements getSchemas.
func (a *API) GetSchemas(context.Context, *call, oapi.GetSchemasRequestObject) (oapi.GetSchemasResponseObject, error) {
	return oapi.GetSchemas200JSONResponse{Items: each(fleet.Types(), func(t fleet.Type) oapi.SchemaOfType {
		return oapi.SchemaOfType{Type: oapi.ResourceType(t.Slug()), Message: t.Message(), Path: schemasPath + "/" + t.Slug()}
	})}, nil
}

// GetSchema implements getSchema. One is made for each request, in some milliseconds and in turn with what else is computed: a client keeps it.
func (a *API) GetSchema(ctx context.Context, c *call, r oapi.GetSchemaRequestObject) (oapi.GetSchemaResponseObject, error) {
	t := typeOf(r.Type)
	return a.schemaOf(ctx, c, t.Message(), schemasPath+"/"+t.Slug(), deref(r.Params.IfNoneMatch))
}

// GetMessageSchema implements getMessageSchema.
func (a *API) GetMessageSchema(ctx context.Context, c *call, r oapi.GetMessageSchemaRequestObject) (oapi.GetMessageSchemaResponseObject, error) {
	return a.schemaOf(ctx, c, r.Message, schemaDocuments.Types+r.Message, deref(r.Params.IfNoneMatch))
}

func (a *API) schemaOf(ctx context.Context, c *call, message, path, has string) (*schemaAnswer, error) {
	var body []byte
	var ok bool
	err := a.compute(ctx, c, compute.Small, func(func() error) error {
		body, ok = schemaDocuments.Of(message, path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, errMissing(oapi.MissingSchema, fmt.Sprintf("there is no message %q with a schema: give the full name of one of Envoy's messages, as it stands in an \"@type\" behind type.googleapis.com/",
			shortened(message, maxMessageName)))
	}
	sum := sha256.Sum256(body)
	out := &schemaAnswer{etag: `"` + hex.EncodeToString(sum[:16]) + `"`, body: body, packed: takesGzip(c.encodings)}
	if matches(has, out.etag) {
		out.body = nil
	}
	return out, nil
}

// schemaAnswer has no body where the client has it.
type schemaAnswer struct {
	etag   string
	body   []byte
	packed bool
}

// VisitGetSchemaResponse implements oapi.GetSchemaResponseObject.
func (s *schemaAnswer) VisitGetSchemaResponse(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("ETag", s.etag)
	h.Set("Cache-Control", schemaAge)
	h.Set("Vary", "Accept-Encoding")
	if s.body == nil {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", schemaMedia)
	if !s.packed {
		_, err := w.Write(s.body)
		return err
	}
	h.Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, err := z.Write(s.body)
	return errors.Join(err, z.Close())
}

// VisitGetMessageSchemaResponse implements oapi.GetMessageSchemaResponseObject.
func (s *schemaAnswer) VisitGetMessageSchemaResponse(w http.ResponseWriter) error {
	return s.VisitGetSchemaResponse(w)
}

// takesGzip reports whether the client does, by its Accept-Encoding, for the answers that are sent packed: schemas are the largest of all, a tenth of their
// size then, and hold nothing that is secret.
func takesGzip(encodings []string) bool {
	for part := range strings.SplitSeq(strings.Join(encodings, ","), ",") {
		name, q, weighed := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if never := weighed && strings.Trim(q, "q=0.") == ""; strings.EqualFold(name, "gzip") && !never {
			return true
		}
	}
	return false
}
