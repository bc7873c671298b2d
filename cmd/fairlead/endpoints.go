package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	client "fairlead/clients/go"
)

// endpointsCommand is "fairlead endpoints".
type endpointsCommand struct {
	List     endpointsListCommand     `cmd:"" help:"List the endpoints of a cluster that are kept as data."`
	Set      endpointsSetCommand      `cmd:"" help:"Put endpoints of a cluster."`
	Rm       endpointsRmCommand       `cmd:"" help:"Remove endpoints of a cluster."`
	Register endpointsRegisterCommand `cmd:"" help:"Be an endpoint while a program runs, or until this one is stopped."`
}

type endpointsListCommand struct {
	listing
	Cluster string `arg:"" help:"The name of the cluster's endpoints: its service_name, or its own."`
}

// Run prints them.
func (c *endpointsListCommand) Run(ctx context.Context, sh *shell) error {
	head := []string{"ADDRESS", "LOCALITY", "WEIGHT", "HEALTH", "EXPIRES", "BY"}
	row := func(e client.Endpoint) []string {
		l := deref(e.Locality)
		until := "-"
		if e.ExpiresAt != nil {
			until = when(*e.ExpiresAt)
		}
		if deref(e.Held) {
			until = "held"
		}
		return []string{e.Address, strings.TrimRight(strings.Join([]string{deref(l.Region), deref(l.Zone), deref(l.SubZone)}, "/"), "/"), strconv.Itoa(e.Weight), string(e.Health), until, e.UpdatedBy}
	}
	return list(c.listing, sh, ofFleet, "the cluster has no endpoints that are kept as data", head, row, func(s *session, limit *int, cursor *string) (*http.Response, error) {
		return s.api.ListEndpoints(ctx, s.tenant, s.fleet, c.Cluster, &client.ListEndpointsParams{Limit: limit, Cursor: cursor}, s.exactPath("endpoints", c.Cluster))
	})
}

// endpointFlags are what is said of an endpoint.
type endpointFlags struct {
	Locality string `placeholder:"REGION/ZONE/SUB_ZONE" help:"Where it is; parts at the end may be left out."`
	Weight   int    `default:"1" help:"Its share of the requests of its locality, from 1 to 65535."`
	Metadata string `placeholder:"JSON" help:"Envoy's filter_metadata, such as '{\"envoy.lb\": {\"version\": \"v2\"}}'."`
}

// put is an endpoint with these.
func (f endpointFlags) put(address string) (client.EndpointPut, error) {
	out := client.EndpointPut{Address: address, Weight: &f.Weight}
	var err error
	if out.Locality, err = localityOf(f.Locality); err != nil {
		return out, err
	}
	if f.Metadata == "" {
		return out, nil
	}
	out.Metadata = &client.EndpointMetadata{}
	if err := json.Unmarshal([]byte(f.Metadata), out.Metadata); err != nil {
		return out, usageError("--metadata: write an object of objects, such as '{\"envoy.lb\": {\"version\": \"v2\"}}'")
	}
	return out, nil
}

// localityOf reads region/zone/sub_zone; nil for "".
func localityOf(text string) (*client.EndpointLocality, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // said above
	}
	parts := strings.Split(text, "/")
	if len(parts) > 3 {
		return nil, usageError(fmt.Sprintf("--locality: %q has more parts than REGION/ZONE/SUB_ZONE", text))
	}
	l := &client.EndpointLocality{}
	for i, to := range []**string{&l.Region, &l.Zone, &l.SubZone}[:len(parts)] {
		*to = &parts[i]
	}
	return l, nil
}

type endpointsSetCommand struct {
	Connection connection `embed:""`
	endpointFlags
	Health    string   `default:"healthy" enum:"healthy,draining,unhealthy" help:"healthy, draining (no new requests) or unhealthy (none)."`
	Cluster   string   `arg:"" help:"The name of the cluster's endpoints: its service_name, or its own."`
	Addresses []string `arg:"" name:"address" help:"IP:PORT, [IPv6]:PORT or unix:/PATH."`
	JSON      bool     `name:"json" help:"Print the API's JSON."`
}

// Run puts them.
func (c *endpointsSetCommand) Run(ctx context.Context, sh *shell) error {
	var w client.EndpointWrite
	health := client.EndpointHealth(c.Health)
	var set []client.EndpointPut
	for _, a := range c.Addresses {
		e, err := c.put(a)
		if err != nil {
			return err
		}
		e.Health = &health
		set = append(set, e)
	}
	w.Set = &set
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	leased := s.leased(ctx, c.Cluster, c.Addresses)
	if _, err := s.setEndpoints(ctx, c.Cluster, w, c.JSON); err != nil {
		return err
	}
	for _, a := range leased {
		fmt.Fprintf(s.err, "warning: %s had a lease, and has none now: it stays if its program is killed, until \"fairlead endpoints rm\"\n", plain(a))
	}
	return nil
}

// leased are those of the addresses that have a lease now, as they are stored; none if that is not known.
func (s *session) leased(ctx context.Context, cluster string, addresses []string) (out []string) {
	raw, err := pages(0, func(limit int, cursor *string) (page, error) {
		resp, err := s.api.ListEndpoints(ctx, s.tenant, s.fleet, cluster, &client.ListEndpointsParams{Limit: &limit, Cursor: cursor}, s.exactPath("endpoints", cluster)) //nolint:bodyclose // answer closes it
		p, _, err := answer[page](s, resp, err)
		return p, err
	})
	if err != nil {
		return nil
	}
	items, err := decode[client.Endpoint](raw)
	if err != nil {
		return nil
	}
	for _, e := range items {
		if e.Lease != nil && !deref(e.Held) && slices.Contains(addresses, e.Address) {
			out = append(out, e.Address)
		}
	}
	return out
}

type endpointsRmCommand struct {
	Connection connection `embed:""`
	Cluster    string     `arg:"" help:"The name of the cluster's endpoints: its service_name, or its own."`
	Addresses  []string   `arg:"" name:"address" help:"IP:PORT, [IPv6]:PORT or unix:/PATH."`
	Ignore     bool       `name:"ignore-not-found" help:"End with 0 also where an endpoint is not there."`
	JSON       bool       `name:"json" help:"Print the API's JSON."`
}

// Run removes them. Those that are there are removed also where another one is not, which is an error, as of "fairlead delete".
func (c *endpointsRmCommand) Run(ctx context.Context, sh *shell) error {
	r, err := writeEndpoints(ctx, sh, c.Connection, c.Cluster, client.EndpointWrite{Remove: &c.Addresses}, c.JSON)
	absent := len(c.Addresses) - r.Removed
	if err != nil || c.Ignore || absent <= 0 { // one may be stored in two spellings
		return err
	}
	if len(c.Addresses) == 1 {
		fmt.Fprintf(sh.err, "fairlead: %s has no endpoint %s\n", plain(c.Cluster), plain(c.Addresses[0]))
	} else {
		fmt.Fprintf(sh.err, "fairlead: not in %s: %d of these %d endpoints\n", plain(c.Cluster), absent, len(c.Addresses))
	}
	return verdict(exitFailed)
}

// writeEndpoints writes, and prints what it came to.
func writeEndpoints(ctx context.Context, sh *shell, at connection, cluster string, w client.EndpointWrite, asJSON bool) (client.EndpointWritten, error) {
	s, err := at.open(sh)
	if err != nil {
		return client.EndpointWritten{}, err
	}
	return s.setEndpoints(ctx, cluster, w, asJSON)
}

// setEndpoints is writeEndpoints of a session.
func (s *session) setEndpoints(ctx context.Context, cluster string, w client.EndpointWrite, asJSON bool) (client.EndpointWritten, error) {
	r, raw, err := s.writeEndpoints(ctx, cluster, w)
	if err != nil {
		return r, err
	}
	s.tellUnused(r)
	if asJSON {
		return r, s.printJSON(raw)
	}
	fmt.Fprintf(s.out, "%s: %d set, %d removed\n", plain(cluster), r.Set, r.Removed)
	return r, nil
}

func (s *session) writeEndpoints(ctx context.Context, cluster string, w client.EndpointWrite) (client.EndpointWritten, []byte, error) {
	resp, err := s.api.WriteEndpoints(ctx, s.tenant, s.fleet, cluster, w, s.exactPath("endpoints", cluster))
	return answer[client.EndpointWritten](s, resp, err)
}

// tellUnused prints what the API warns of: endpoints that no cluster asks for are stored all the same.
func (s *session) tellUnused(r client.EndpointWritten) {
	for _, w := range deref(r.Warnings) {
		fmt.Fprintf(s.err, "warning: %s\n", plain(w.Detail))
	}
}
