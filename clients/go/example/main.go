// Command example writes a cluster to a fleet, which it makes if there is none of that name, waits until the proxies
// have answered, and prints who took it:
//
//	FAIRLEAD_URL=http://127.0.0.1:8080 FAIRLEAD_TOKEN=fla_... FAIRLEAD_TENANT=acme go run fairlead/clients/go/example FLEET CLUSTER TIMEOUT [REVISION]
//
// REVISION is the one that the fleet must be at; left out, it is the one that the fleet is at now.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	client "fairlead/clients/go"
)

func main() {
	if len(os.Args) != 4 && len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: example FLEET CLUSTER TIMEOUT [REVISION]")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	api, err := client.NewClientWithResponses(os.Getenv("FAIRLEAD_URL"), client.WithToken(os.Getenv("FAIRLEAD_TOKEN")))
	if err != nil {
		return err
	}
	f := fleet{api: api, tenant: os.Getenv("FAIRLEAD_TENANT"), name: args[0]}
	expected, err := f.open(ctx)
	if err != nil {
		return err
	}
	if len(args) == 4 {
		if expected, err = strconv.ParseInt(args[3], 10, 64); err != nil {
			return fmt.Errorf("REVISION is a number: %w", err)
		}
	}
	revision, err := f.apply(ctx, args[1], args[2], expected)
	if err != nil {
		return err
	}
	return f.receipt(ctx, revision)
}

// fleet is one fleet of a tenant.
type fleet struct {
	api          *client.ClientWithResponses
	tenant, name string
}

// open returns the revision that the fleet is at. A fleet that is not there is made.
func (f fleet) open(ctx context.Context) (int64, error) {
	got, err := f.api.GetFleetWithResponse(ctx, f.tenant, f.name)
	if err != nil {
		return 0, err
	}
	err = client.Check(got)
	var problem *client.Problem
	switch {
	case err == nil:
		fmt.Printf("fleet %s is at revision %d\n", f.name, got.JSON200.Revision)
		return got.JSON200.Revision, nil
	case !errors.As(err, &problem) || problem.Status != http.StatusNotFound:
		return 0, err
	}
	made, err := f.api.CreateFleetWithResponse(ctx, f.tenant, client.FleetCreate{Name: f.name})
	if err != nil {
		return 0, err
	}
	if err := client.Check(made); err != nil {
		return 0, err
	}
	fmt.Printf("fleet %s is new\n", f.name)
	return made.JSON201.Revision, nil
}

// apply writes a cluster if the fleet is still at the expected revision, and returns the new one.
func (f fleet) apply(ctx context.Context, cluster, timeout string, expected int64) (int64, error) {
	body := client.Body(fmt.Sprintf(`{"name": %q, "type": "STATIC", "connect_timeout": %q}`, cluster, timeout))
	input := client.ApplyInput{
		Message:          new("written by the example"),
		ExpectedRevision: &expected,
		Resources:        &[]client.ResourceInput{{Type: new("clusters"), Name: &cluster, Body: &body}},
	}
	got, err := f.api.ApplyWithResponse(ctx, f.tenant, f.name, nil, input)
	if err != nil {
		return 0, err
	}
	if err := client.Check(got); err != nil {
		return 0, err
	}
	fmt.Printf("revision %d: %d changed\n", got.JSON200.Revision, got.JSON200.Changed)
	return got.JSON200.Revision, nil
}

// receipt waits until no node is asked for an answer any more, and prints who has the revision.
func (f fleet) receipt(ctx context.Context, revision int64) error {
	got, err := f.api.GetReceiptWithResponse(ctx, f.tenant, f.name, revision, &client.GetReceiptParams{Wait: new("30s")})
	if err != nil {
		return err
	}
	if err := client.Check(got); err != nil {
		return err
	}
	for _, n := range got.JSON200.Nodes {
		if n.Detail != nil {
			fmt.Printf("%s %s: %s\n", n.Id, n.State, *n.Detail)
		}
	}
	names, err := f.acked(ctx, revision)
	if err != nil {
		return err
	}
	fmt.Printf("revision %d is %s; ACKed by %d: %s\n", revision, got.JSON200.State, len(names), strings.Join(names, " "))
	if s := got.JSON200.State; s != client.ReceiptStateDelivered && s != client.ReceiptStateStored {
		return fmt.Errorf("revision %d is not everywhere", revision)
	}
	return nil
}

// acked lists the nodes that have ACKed the revision, page by page.
func (f fleet) acked(ctx context.Context, revision int64) (names []string, _ error) {
	params := &client.GetReceiptParams{State: new(client.GetReceiptParamsStateAcked)}
	for {
		page, err := f.api.GetReceiptWithResponse(ctx, f.tenant, f.name, revision, params)
		if err != nil {
			return nil, err
		}
		if err := client.Check(page); err != nil {
			return nil, err
		}
		for _, n := range page.JSON200.Nodes {
			names = append(names, n.Id)
		}
		if params.Cursor = page.JSON200.NextCursor; params.Cursor == nil {
			return names, nil
		}
	}
}
