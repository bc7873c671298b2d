package httpapi

import (
	"context"
	"errors"
	"net/http"

	"fairlead/internal/envoyconfig"
	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/resource"
)

// ImportConfig implements importConfig. It writes nothing, and costs as much as checking the documents of an apply.
func (a *API) ImportConfig(ctx context.Context, c *call, r oapi.ImportConfigRequestObject) (oapi.ImportConfigResponseObject, error) {
	var result envoyconfig.Result
	sent := c.document.bytes
	err := a.compute(ctx, c, sizeKind(len(sent)), func(step func() error) (err error) {
		result, err = envoyconfig.Read(sent, envoyconfig.Options{RDS: deref(r.Params.Rds), EDS: deref(r.Params.Eds), Step: step})
		return err
	})
	var faults resource.Errors
	switch {
	case errors.As(err, &faults):
		return nil, refusedDocument(http.StatusBadRequest, "invalid_document", faults)
	case errors.Is(err, envoyconfig.ErrForm):
		whole := ""
		return nil, refuse(http.StatusBadRequest, "invalid_document", envoyconfig.ErrForm.Error(),
			oapi.FieldError{Pointer: &whole, Code: "not_envoy_config", Detail: envoyconfig.ErrForm.Error()})
	case err != nil:
		return nil, err
	}
	told := result.Told()
	return oapi.ImportConfig200JSONResponse{
		Resources: each(told.Resources, func(d envoyconfig.Written) oapi.ImportedResource {
			return oapi.ImportedResource{Type: oapi.ResourceType(d.Type), Name: d.Name, Body: d.Body}
		}),
		LeftOut: each(told.LeftOut, importNote), Notes: each(told.Notes, importNote),
	}, nil
}

func importNote(r envoyconfig.Reason) oapi.ImportNote {
	return oapi.ImportNote{What: r.What, Reason: r.Reason}
}
