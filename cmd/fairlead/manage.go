package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	client "fairlead/clients/go"
)

// listing is what every list of these takes.
type listing struct {
	Connection connection `embed:""`
	JSON       bool       `name:"json" help:"Print the API's JSON."`
}

// list prints a list to its end: as JSON, or as a table with a row for each item.
func list[T any](l listing, sh *shell, about reach, none string, head []string, row func(T) []string, ask func(s *session, limit *int, cursor *string) (*http.Response, error)) error {
	_, err := listAll(l, sh, about, none, head, row, ask)
	return err
}

// listAll is list, and returns the last page for what it says of the list as a whole.
func listAll[T any](l listing, sh *shell, about reach, none string, head []string, row func(T) []string, ask func(s *session, limit *int, cursor *string) (*http.Response, error)) (last page, err error) {
	s, err := l.Connection.openFor(sh, about)
	if err != nil {
		return last, err
	}
	raw, err := pages(0, func(limit int, cursor *string) (page, error) {
		resp, err := ask(s, &limit, cursor) //nolint:bodyclose // answer closes it
		last, _, err = answer[page](s, resp, err)
		return last, err
	})
	if err != nil {
		return last, err
	}
	if l.JSON {
		return last, s.printItems(raw)
	}
	items, err := decode[T](raw)
	if err != nil {
		return last, err
	}
	if len(items) == 0 {
		fmt.Fprintln(sh.out, none)
		return last, nil
	}
	t := table{head}
	for _, item := range items {
		t = append(t, row(item))
	}
	fmt.Fprint(sh.out, t)
	return last, nil
}

// made prints what was made: as JSON, or a line, with a token on a line of its own.
func made(s *session, asJSON bool, raw []byte, line, token string) error {
	if asJSON {
		return s.printJSON(raw)
	}
	fmt.Fprintln(s.err, plain(line))
	if token != "" {
		fmt.Fprintln(s.out, plain(token))
	}
	return nil
}

// ended prints that something is no more. The API answers such a request without a body.
func ended(s *session, resp *http.Response, err error, line string) error {
	if err == nil && resp.StatusCode == http.StatusNoContent {
		resp.Body.Close()
		fmt.Fprintln(s.err, plain(line))
		return nil
	}
	_, _, err = answer[json.RawMessage](s, resp, err)
	if err == nil {
		fmt.Fprintln(s.err, plain(line))
	}
	return err
}

// revoked prints that a token or a credential is no more: as JSON, or a line.
func revoked(s *session, asJSON bool, resp *http.Response, err error, what, id string) error {
	if err = ended(s, resp, err, what+" "+id+" is revoked"); err != nil {
		return err
	}
	return s.tellEnd(asJSON, map[string]any{"id": id, "revoked": true})
}

// tellEnd prints what is no more, where JSON is asked for.
func (s *session) tellEnd(asJSON bool, what map[string]any) error {
	if !asJSON {
		return nil
	}
	raw, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return s.printJSON(raw)
}

// expires reads a date, or a time from now such as 720h or 30d; nil for "".
func expires(sh *shell, flag, text string) (*time.Time, error) {
	t, away, err := moment(text)
	switch {
	case text == "":
		return nil, nil //nolint:nilnil // said above
	case err != nil || away < 0:
		return nil, usageError(fmt.Sprintf("--%s: %q is not a date such as 2027-01-31, nor a time from now such as 30d or 12h", flag, text))
	case away > 0:
		t = sh.now().Add(away).UTC().Truncate(time.Second)
	}
	return &t, nil
}

// since reads a time, or how long ago that was, such as 12h or 30d; nil for "".
func since(sh *shell, flag, text string) (*time.Time, error) {
	t, away, err := moment(text)
	switch {
	case text == "":
		return nil, nil //nolint:nilnil // said above
	case err != nil || away < 0:
		return nil, usageError(fmt.Sprintf("--%s: %q is not a time such as 2026-01-31 or 2026-01-31T12:00:00Z, nor how long ago such as 12h or 30d", flag, text))
	case away > 0:
		t = sh.now().Add(-away).UTC().Truncate(time.Second)
	}
	return &t, nil
}

// moment reads a date, a time, or how far away one is, which is 0 of the others.
func moment(text string) (t time.Time, away time.Duration, err error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err = time.Parse(layout, text); err == nil {
			return t, 0, nil
		}
	}
	away, err = time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); err != nil && ok {
		var n int
		n, err = strconv.Atoi(days)
		away = time.Duration(n) * 24 * time.Hour
	}
	if err == nil && away == 0 {
		err = errors.New("it is now")
	}
	return t, away, err
}

func until(t *time.Time) string {
	if t == nil {
		return ""
	}
	return when(*t)
}

// tenantCommand is "fairlead tenant".
type tenantCommand struct {
	List    tenantListCommand    `cmd:"" help:"List the tenants: an operator all, others their own."`
	Create  tenantCreateCommand  `cmd:"" help:"Create a tenant, as an operator."`
	Delete  tenantDeleteCommand  `cmd:"" help:"Delete a tenant, as an operator or one of its owners."`
	Restore tenantRestoreCommand `cmd:"" help:"Take back the deletion of a tenant, as an operator."`
}

type tenantListCommand struct {
	Listing listing `embed:""`
	Deleted bool    `help:"Those that were deleted in the last 30 days and can be restored, for an operator."`
}

// Run prints the tenants.
func (c *tenantListCommand) Run(ctx context.Context, sh *shell) error {
	if c.Deleted {
		return list(c.Listing, sh, ofServer, "no tenant can be restored", []string{"TENANT", "NAME", "DELETED"},
			func(t client.Tenant) []string { return []string{t.Slug, t.Name, until(t.DeletedAt)} },
			func(s *session, limit *int, cursor *string) (*http.Response, error) {
				return s.api.ListTenants(ctx, &client.ListTenantsParams{State: deletedOnes(), Limit: limit, Cursor: cursor})
			})
	}
	return list(c.Listing, sh, ofServer, "there is no tenant", []string{"TENANT", "NAME", "CREATED"},
		func(t client.Tenant) []string { return []string{t.Slug, t.Name, when(t.CreatedAt)} },
		func(s *session, limit *int, cursor *string) (*http.Response, error) {
			return s.api.ListTenants(ctx, &client.ListTenantsParams{Limit: limit, Cursor: cursor})
		})
}

type tenantCreateCommand struct {
	Listing listing `embed:""`
	Slug    string  `arg:"" help:"What paths call it: lower-case letters, digits and inner hyphens."`
	Name    string  `placeholder:"TEXT" help:"For people."`
}

// Run makes the tenant.
func (c *tenantCreateCommand) Run(ctx context.Context, sh *shell) error {
	s, err := c.Listing.Connection.openFor(sh, ofServer)
	if err != nil {
		return err
	}
	resp, err := s.api.CreateTenant(ctx, client.TenantCreate{Slug: c.Slug, Name: given(c.Name)})
	t, raw, err := answer[client.Tenant](s, resp, err)
	if err != nil {
		return err
	}
	return made(s, c.Listing.JSON, raw, "tenant "+t.Slug+" made", "")
}

// fleetListCommand is "fairlead fleet list".
type fleetListCommand struct {
	Listing listing `embed:""`
	Deleted bool    `help:"Those that were deleted in the last 30 days and can be restored."`
}

// Run prints the fleets, with what each has.
func (c *fleetListCommand) Run(ctx context.Context, sh *shell) error {
	if c.Deleted {
		return list(c.Listing, sh, ofTenant, "no fleet can be restored", []string{"FLEET", "REVISION", "DELETED", "ID"},
			func(f client.Fleet) []string {
				return []string{f.Name, strconv.FormatInt(f.Revision, 10), until(f.DeletedAt), f.Id}
			},
			func(s *session, limit *int, cursor *string) (*http.Response, error) {
				return s.api.ListFleets(ctx, s.tenant, &client.ListFleetsParams{State: deletedOnes(), Limit: limit, Cursor: cursor})
			})
	}
	counts := true
	return list(c.Listing, sh, ofTenant, "the tenant has no fleet yet",
		[]string{"FLEET", "REVISION", "RECEIPT", "LIVE", "REFUSING", "OFFLINE", "REFUSALS", "CREATED", "DESCRIPTION"},
		func(f client.Fleet) []string {
			n := deref(f.Counts)
			cells := []string{f.Name, strconv.FormatInt(f.Revision, 10), string(deref(n.Receipt))}
			for _, count := range []int64{n.Nodes.Live, n.Nodes.Refusing, n.Nodes.Offline, n.OpenRefusals} {
				cells = append(cells, strconv.FormatInt(count, 10))
			}
			return append(cells, when(f.CreatedAt), f.Description)
		},
		func(s *session, limit *int, cursor *string) (*http.Response, error) {
			return s.api.ListFleets(ctx, s.tenant, &client.ListFleetsParams{Limit: limit, Cursor: cursor, Counts: &counts})
		})
}

// fleetCreateCommand is "fairlead fleet create".
type fleetCreateCommand struct {
	Listing     listing           `embed:""`
	Name        string            `arg:"" help:"The fleet's name."`
	Description string            `placeholder:"TEXT" help:"For people."`
	Value       map[string]string `placeholder:"NAME=TEXT" mapsep:"none" help:"What stands in the place of ${fleet.values.NAME} in what is written to it. Repeatable."`
}

// Run makes the fleet.
func (c *fleetCreateCommand) Run(ctx context.Context, sh *shell) error {
	s, err := c.Listing.Connection.openFor(sh, ofTenant)
	if err != nil {
		return err
	}
	resp, err := s.api.CreateFleet(ctx, s.tenant, client.FleetCreate{Name: c.Name, Description: given(c.Description), Values: valuesGiven(c.Value)})
	f, raw, err := answer[client.Fleet](s, resp, err)
	if err != nil {
		return err
	}
	return made(s, c.Listing.JSON, raw, "fleet "+f.Name+" made", "")
}
