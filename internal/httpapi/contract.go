package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	nethttpmiddleware "github.com/oapi-codegen/nethttp-middleware"
	"sigs.k8s.io/yaml"

	"fairlead/internal/httpapi/oapi"
	"fairlead/internal/httpapi/write"
	"fairlead/internal/jsonpointer"
	"fairlead/internal/reference"
)

// contract is openapi.yaml, as all APIs of a process serve it. Nothing of it changes.
type contract struct {
	operations map[string]operation // by "METHOD pattern", as the router names its routes
	validate   func(http.Handler) http.Handler

	// The document and the page that tells it are made when somebody first asks for them: a server starts in a third of the time.
	document func() ([]byte, error)
	page     func() (http.Handler, error)
}

// theContract is read by the first API: it takes longer than all else that an API begins with.
var theContract = sync.OnceValues(newContract)

func newContract() (*contract, error) {
	spec, err := oapi.GetSpec()
	if err != nil {
		return nil, err
	}
	k := &contract{document: sync.OnceValues(newDocument), page: sync.OnceValues(newPage)}
	if k.operations, err = operations(spec); err != nil {
		return nil, err
	}
	k.validate = validator(spec)
	return k, nil
}

// newDocument is openapi.yaml as the generated code carries it.
func newDocument() ([]byte, error) {
	raw, err := oapi.GetSpecJSON()
	if err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	out, err := yaml.JSONToYAML(raw)
	if err != nil {
		return nil, fmt.Errorf("write the contract as YAML: %w", err)
	}
	return out, nil
}

// newPage reads the contract again, as the validator takes something out of its own.
func newPage() (http.Handler, error) {
	spec, err := oapi.GetSpec()
	if err != nil {
		return nil, fmt.Errorf("read the contract: %w", err)
	}
	return reference.New(spec)
}

func (k *contract) serveDocument(w http.ResponseWriter, r *http.Request) {
	out, err := k.document()
	if err != nil {
		fail(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(out)
}

func (k *contract) servePage(w http.ResponseWriter, r *http.Request) {
	page, err := k.page()
	if err != nil {
		fail(w, r, err)
		return
	}
	page.ServeHTTP(w, r)
}

// operation is one operation of openapi.yaml with its row of the rules.
type operation struct {
	id      string
	hasBody bool
	rule    rule
	parameters
}

// operations reads the contract: by "METHOD pattern", as the router names its routes.
// An operation without a row is an error, so that none is served without a decision.
func operations(spec *openapi3.T) (map[string]operation, error) {
	out := make(map[string]operation)
	for pattern, item := range spec.Paths.Map() {
		for method, op := range item.Operations() {
			r, ok := rules[op.OperationID]
			if !ok {
				return nil, fmt.Errorf("operation %s has no rule", op.OperationID)
			}
			out[method+" "+pattern] = operation{id: op.OperationID, hasBody: op.RequestBody != nil, rule: r, parameters: parametersOf(item.Parameters, op.Parameters)}
		}
	}
	return out, nil
}

// operation returns the one that the router matched; the zero one, which nobody may
// call, where there is none.
func (a *API) operation(r *http.Request) operation {
	return a.operations[r.Method+" "+route(r.Context())]
}

// validator checks parameters and bodies against the contract. Documents are none
// of its business: decoding them is package resource's, and it reads them only once. Of a body that is longer
// than maxForm the first fault is told alone: each that is found takes a hundred times its bytes.
func validator(spec *openapi3.T) func(http.Handler) http.Handler {
	for _, item := range spec.Paths.Map() {
		for _, op := range item.Operations() {
			if rules[op.OperationID].document {
				op.RequestBody = nil
			}
		}
	}
	check := func(all bool) func(http.Handler) http.Handler {
		return nethttpmiddleware.OapiRequestValidatorWithOptions(spec, &nethttpmiddleware.Options{
			DoNotValidateServers: true,
			ErrorHandlerWithOpts: func(_ context.Context, err error, w http.ResponseWriter, r *http.Request, _ nethttpmiddleware.ErrorHandlerOpts) {
				fail(w, r, offContract(err))
			},
			Options: openapi3filter.Options{
				MultiError:         all,
				AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, // done before, without reading the body
				// Whoever reads a value knows its default. To set it, the validator takes null for left out, and writes the body anew.
				SkipSettingDefaults: true,
			},
		})
	}
	every, first := check(true), check(false)
	return func(next http.Handler) http.Handler {
		every, first := every(next), first(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > maxForm {
				first.ServeHTTP(w, r)
				return
			}
			every.ServeHTTP(w, r)
		})
	}
}

// offContract turns what the validator found into a problem, one entry per fault, as many as an answer holds.
func offContract(err error) error {
	p := refuse(http.StatusBadRequest, "invalid_request", requestDetail)
	p.cause = err
	faults(err, nil, &p.faults)
	p.faults = boundFaults(p.faults)
	return p
}

// faults walks the validator's errors, up to one more than an answer holds; parameter is nil inside a body.
func faults(err error, parameter *openapi3.Parameter, out *[]oapi.FieldError) {
	var many openapi3.MultiError
	var request *openapi3filter.RequestError
	var schema *openapi3.SchemaError
	switch {
	case asIs(err, &many):
		for _, e := range many {
			if len(*out) > write.MaxFaults {
				return
			}
			faults(e, parameter, out)
		}
	case asIs(err, &request):
		if request.Parameter != nil {
			parameter = request.Parameter
		}
		if request.Err != nil {
			faults(request.Err, parameter, out)
			return
		}
		*out = append(*out, fault(parameter, nil, "invalid", request.Reason))
	case asIs(err, &schema):
		path, code := schema.JSONPointer(), faultCode(schema.SchemaField)
		if name, ok := unknownField(schema); ok {
			path, code = append(path, name), "unknown_field"
		}
		*out = append(*out, fault(parameter, path, code, sentence(schema, path, parameter)))
	case errors.Is(err, openapi3filter.ErrInvalidRequired) && parameter != nil:
		*out = append(*out, fault(parameter, nil, "required", "it is missing: "+strings.TrimSpace(parameter.Description)))
	case parameter != nil:
		*out = append(*out, fault(parameter, nil, "invalid", readAs(parameter)))
	default:
		*out = append(*out, fault(nil, nil, "malformed", "the body cannot be read as JSON"))
	}
}

// asIs is errors.As for the outermost error alone: the validator nests its own types,
// and each level has something to say.
func asIs[T error](err error, target *T) bool {
	e, ok := err.(T) //nolint:errorlint // see above
	if ok {
		*target = e
	}
	return ok
}

func fault(parameter *openapi3.Parameter, path []string, code, detail string) oapi.FieldError {
	if parameter != nil {
		return oapi.FieldError{Parameter: &parameter.Name, Code: code, Detail: detail}
	}
	pointer := ""
	for _, s := range path {
		pointer += "/" + jsonpointer.Escape(s)
	}
	return oapi.FieldError{Pointer: &pointer, Code: code, Detail: detail}
}

// sentence says what is wrong with a value. The validator tells of forms by the expression that it compared with, which
// is no word on what to write: the contract has it.
func sentence(e *openapi3.SchemaError, path []string, parameter *openapi3.Parameter) string {
	switch {
	case e.SchemaField == "format" && e.Schema.Format == "date-time" && parameter != nil && parameter.In == openapi3.ParameterInQuery:
		return "this is no time: write one such as 2026-05-01T12:00:00Z; the + of an offset is %2B in a query"
	case e.SchemaField == "format" && e.Schema.Format == "date-time":
		return "this is no time: write one such as 2026-05-01T12:00:00Z"
	case e.SchemaField == "pattern" && e.Schema.Description != "":
		return e.Reason + ": " + strings.TrimSpace(e.Schema.Description)
	case e.SchemaField == "pattern" && parameter != nil:
		return e.Reason + ": " + strings.TrimSpace(parameter.Description)
	}
	return e.Reason + meaning(e, path)
}

// readAs says what a parameter that cannot be read must be.
func readAs(p *openapi3.Parameter) string {
	switch t := p.Schema.Value.Type; {
	case t.Is("integer"):
		return "this must be a whole number, given once"
	case t.Is("boolean"):
		return "this must be true or false, given once"
	}
	return "the value cannot be read as what this parameter is"
}

// meaning is what the contract says of a field that is missing, so that the answer says
// what to write.
func meaning(e *openapi3.SchemaError, path []string) string {
	if e.SchemaField != "required" || len(path) == 0 {
		return ""
	}
	field := e.Schema.Properties[path[len(path)-1]]
	if field == nil || field.Value == nil || field.Value.Description == "" {
		return ""
	}
	return ": " + strings.TrimSpace(field.Value.Description)
}

// unknownField finds the field that a closed object does not know. The validator points at the object, and names the field in its sentence
// alone: to look for it among all fields, for each that is not known, would cost the square of their number.
func unknownField(e *openapi3.SchemaError) (string, bool) {
	quoted, says := strings.CutPrefix(e.Reason, "property ")
	quoted, whole := strings.CutSuffix(quoted, " is unsupported")
	if e.SchemaField != "properties" || !says || !whole {
		return "", false
	}
	name, err := strconv.Unquote(quoted)
	return name, err == nil
}

// faultCode turns the name of a schema's keyword into a stable word.
func faultCode(keyword string) string {
	switch keyword {
	case "required":
		return "required"
	case "minLength", "maxLength", "minimum", "maximum", "enum", "pattern", "type", "format":
		return map[string]string{
			"minLength": "too_short", "maxLength": "too_long", "minimum": "too_small", "maximum": "too_large",
			"enum": "not_allowed", "pattern": "pattern", "type": "wrong_type", "format": "format",
		}[keyword]
	}
	return "invalid"
}

// unbound tells that the generated code could not read a parameter.
func unbound(w http.ResponseWriter, r *http.Request, err error) {
	var format *oapi.InvalidParamFormatError
	var required *oapi.RequiredParamError
	var many *oapi.TooManyValuesForParamError
	name, detail := "", "the value cannot be read as what this parameter is"
	switch {
	case errors.As(err, &format):
		name = format.ParamName
	case errors.As(err, &required):
		name = required.ParamName
	case errors.As(err, &many):
		name = many.ParamName
	}
	if len(r.URL.Query()[name]) > 1 || len(r.Header.Values(name)) > 1 {
		detail = "this must be one value, given once"
	}
	p := badParameter(name, "invalid", detail)
	p.cause = err
	fail(w, r, p)
}
