package product

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"fairlead/bench/internal/fleet"
	"fairlead/bench/internal/xds"
)

// Fleet is one of the installation, in a tenant of its own, so that every run starts anew.
type Fleet struct {
	NodeToken string // for its proxies, whatever their ids

	api   string
	token string
	slug  string
}

// Fleet makes an empty one.
func (i *Installation) Fleet(ctx context.Context) (*Fleet, error) {
	i.tenants++
	f := &Fleet{slug: fmt.Sprintf("run-%d", i.tenants), api: strings.TrimRight(i.ready.API, "/") + "/v1/tenants", token: i.ready.Operator}
	var made struct {
		Token string `json:"token"`
	}
	if err := f.call(ctx, http.MethodPost, "", map[string]any{"slug": f.slug}, nil); err != nil {
		return nil, err
	}
	if err := f.call(ctx, http.MethodPost, "/"+f.slug+"/tokens", map[string]any{"name": "bench", "role": "owner"}, &made); err != nil {
		return nil, err
	}
	f.token = made.Token
	if err := f.call(ctx, http.MethodPost, "/"+f.slug+"/fleets", map[string]any{"name": fleetName}, nil); err != nil {
		return nil, err
	}
	err := f.call(ctx, http.MethodPost, f.path("/credentials"), map[string]any{"nodes": "*"}, &made)
	f.NodeToken = made.Token
	return f, err
}

const fleetName = "load"

func (f *Fleet) path(p string) string { return "/" + f.slug + "/fleets/" + fleetName + p }

var types = [xds.Kinds]string{"clusters", "endpoints", "listeners", "routes"}

// document is a resource as the API takes it.
type document struct {
	Type string          `json:"type"`
	Name string          `json:"name"`
	Body json.RawMessage `json:"body"`
}

func newDocument(c *fleet.Fleet, k xds.Kind, i int) (document, error) {
	b, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(c.Resources[k][i])
	return document{types[k], c.Names[k][i], b}, err
}

const batch = 1000 // documents of one apply: a body may have 4 MiB

// Set writes all of c.
func (f *Fleet) Set(ctx context.Context, c *fleet.Fleet) error {
	var all []document
	for k := range xds.Kinds {
		for i := range c.Resources[k] {
			d, err := newDocument(c, k, i)
			if err != nil {
				return err
			}
			all = append(all, d)
		}
	}
	for len(all) > 0 {
		n := min(batch, len(all))
		if err := f.apply(ctx, all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// Change writes what changes of c, number i.
func (f *Fleet) Change(ctx context.Context, c *fleet.Fleet, i int) error {
	d, err := newDocument(c, c.Changing, i)
	if err != nil {
		return err
	}
	return f.apply(ctx, []document{d})
}

// Put does so as most programs write a single resource.
func (f *Fleet) Put(ctx context.Context, c *fleet.Fleet, i int) error {
	d, err := newDocument(c, c.Changing, i)
	if err != nil {
		return err
	}
	return f.insist(ctx, http.MethodPut, f.path("/resources/"+d.Type+"/"+d.Name), map[string]any{"body": d.Body})
}

// errBusy is an API that has to be asked again.
var errBusy = errors.New("the API is busy")

func (f *Fleet) apply(ctx context.Context, docs []document) error {
	return f.insist(ctx, http.MethodPost, f.path("/apply"), map[string]any{"resources": docs})
}

// insist asks again where the API is busy: what a database that is new, or shares its CPU,
// cannot do in time is no failure of a run.
func (f *Fleet) insist(ctx context.Context, method, path string, body any) error {
	for tries := 20; ; tries-- {
		err := f.call(ctx, method, path, body, nil)
		if !errors.Is(err, errBusy) || tries == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// call asks the API; answer may be nil.
func (f *Fleet) call(ctx context.Context, method, path string, body, answer any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, f.api+path, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+f.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err = io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode == http.StatusServiceUnavailable:
		return fmt.Errorf("%s: %w: %.300s", path, errBusy, b)
	case resp.StatusCode/100 != 2:
		return fmt.Errorf("%s: %s: %.300s", path, resp.Status, b)
	case answer == nil:
		return nil
	}
	return json.Unmarshal(b, answer)
}
