package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	client "fairlead/clients/go"
)

// fleetCommand is "fairlead fleet".
type fleetCommand struct {
	Show   fleetShowCommand   `cmd:"" default:"withargs" help:"Show the fleet's settings, or change them; what \"fairlead fleet\" does by itself."`
	List   fleetListCommand   `cmd:"" help:"List the tenant's fleets: the newest revision's receipt, nodes by state, open refusals."`
	Create fleetCreateCommand `cmd:"" help:"Create a fleet."`
	Delete fleetDeleteCommand `cmd:"" help:"Delete a fleet."`

	Restore fleetRestoreCommand `cmd:"" help:"Take back the deletion of a fleet, for 30 days."`
}

// fleetShowCommand is "fairlead fleet show".
type fleetShowCommand struct {
	Connection connection `embed:""`

	References          string            `enum:"warn,strict," default:"" placeholder:"warn|strict" help:"What becomes of a write that leaves something without what it names: a warning, or no write."`
	NodeIDs             string            `name:"node-ids" enum:"shared,exclusive," default:"" placeholder:"shared|exclusive" help:"Whether several clients may have one node id at the same time, or the later one is refused."`
	ReceiptWindow       string            `placeholder:"TIME" help:"For how long before a revision a node must have been seen to count in its receipt, such as 12h: 1m to 30d."`
	ForgetNodesAfter    string            `placeholder:"TIME" help:"After how long without a connection a node is forgotten, such as 14d: 1h to 90d."`
	StaticClusters      *string           `placeholder:"NAME,..." help:"The clusters that the proxies have in their own bootstrap: to name one is no finding. They take the place of those that are there. Empty: none."`
	PrivateClusters     *string           `placeholder:"NAME,..." help:"Those of them that may carry the proxies' credentials: who writes what names one needs the guard rule bootstrap_names. They take the place of those that are there. Empty: none but fairlead_*."`
	LocalPorts          *string           `placeholder:"PORT,..." help:"Ports of the proxies' own machine to which everybody who writes may send, such as those of backends beside them. They take the place of those that are there. Empty: none."`
	LoadReportInterval  *string           `placeholder:"TIME" help:"How often proxies that report their load are to do so, such as 30s: 1s to 1m. Empty: as often as the xDS servers say."`
	LoadReportClusters  *string           `placeholder:"NAME,..." help:"The clusters that they are to report. They take the place of those that are there. Empty: all that they have."`
	LoadReportEndpoints string            `enum:"on,off," default:"" placeholder:"on|off" help:"Whether they count requests for each endpoint, too."`
	Value               map[string]string `placeholder:"NAME=TEXT" mapsep:"none" help:"What stands in the place of ${fleet.values.NAME} in what is written from now on; empty: there is none. Repeatable."`
	JSON                bool              `name:"json" help:"Print the API's JSON."`
}

// Run changes the settings that are given, and prints all.
func (c *fleetShowCommand) Run(ctx context.Context, sh *shell) error {
	s, err := c.Connection.open(sh)
	if err != nil {
		return err
	}
	set := client.FleetUpdate{ReceiptWindow: given(c.ReceiptWindow), ForgetNodesAfter: given(c.ForgetNodesAfter), References: (*client.References)(given(c.References)), NodeIds: (*client.NodeIds)(given(c.NodeIDs))}
	set.StaticClusters, set.PrivateClusters = namesGiven(c.StaticClusters), namesGiven(c.PrivateClusters)
	if set.LocalPorts, err = portsGiven(c.LocalPorts); err != nil {
		return err
	}
	set.Values = valuesGiven(c.Value)
	set.LoadReportInterval, set.LoadReportClusters = c.LoadReportInterval, namesGiven(c.LoadReportClusters)
	if c.LoadReportEndpoints != "" {
		on := c.LoadReportEndpoints == "on"
		set.LoadReportEndpoints = &on
	}
	ask := s.api.GetFleet
	if set != (client.FleetUpdate{}) {
		ask = func(ctx context.Context, tenant, fleet string, more ...client.RequestEditorFn) (*http.Response, error) {
			return s.api.UpdateFleet(ctx, tenant, fleet, nil, set, more...)
		}
	}
	resp, err := ask(ctx, s.tenant, s.fleet)
	f, raw, err := answer[client.Fleet](s, resp, err)
	if err != nil {
		return err
	}
	if c.JSON {
		return s.printJSON(raw)
	}
	t := table{
		{"fleet", f.Name}, {"revision", fmt.Sprint(f.Revision)},
		{"references", string(f.References)}, {"node-ids", string(f.NodeIds)}, {"receipt-window", f.ReceiptWindow}, {"forget-nodes-after", f.ForgetNodesAfter},
		{"static-clusters", strings.Join(f.StaticClusters, ",")}, {"private-clusters", strings.Join(f.PrivateClusters, ",")}, {"local-ports", strings.Trim(strings.ReplaceAll(fmt.Sprint(f.LocalPorts), " ", ","), "[]")},
	}
	if f.LoadReportInterval != nil {
		t = append(t, []string{"load-report-interval", *f.LoadReportInterval})
	}
	if f.LoadReportClusters != nil {
		t = append(t, []string{"load-report-clusters", strings.Join(*f.LoadReportClusters, ",")})
	}
	if deref(f.LoadReportEndpoints) {
		t = append(t, []string{"load-report-endpoints", "on"})
	}
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		t = append(t, []string{"value " + name, f.Values[name]})
	}
	fmt.Fprint(s.out, t)
	if c.LocalPorts != nil && slices.Contains(f.LocalPorts, adminPort) {
		fmt.Fprintf(s.err, "warning: %d is where Envoy's admin interface listens by default, which shows all that a proxy knows and ends it: everybody who writes to this fleet may send to it now\n", adminPort)
	}
	if len(c.Value) > 0 {
		fmt.Fprintln(s.err, "what is written already keeps its values until it is written again: see fairlead findings")
	}
	return nil
}

// namesGiven reads NAME,...; nil without a flag.
func namesGiven(flag *string) *[]string {
	if flag == nil {
		return nil
	}
	names := strings.FieldsFunc(*flag, func(r rune) bool { return r == ',' })
	return &names
}

// adminPort is the port of bootstrap.DefaultAdmin.
const adminPort = 9901

// portsGiven is nil without a flag.
func portsGiven(list *string) (*client.LocalPorts, error) {
	if list == nil {
		return nil, nil //nolint:nilnil // nothing was given
	}
	ports := client.LocalPorts{}
	for text := range strings.FieldsFuncSeq(*list, func(r rune) bool { return r == ',' }) {
		port, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16)
		if err != nil || port == 0 {
			return nil, usageError(fmt.Sprintf("--local-ports: %q is no port: write numbers from 1 to 65535 with commas between them", text))
		}
		ports = append(ports, int32(port)) //nolint:gosec // 16 bits
	}
	return &ports, nil
}

// valuesGiven is nil without a flag.
func valuesGiven(values map[string]string) *client.FleetValues {
	if len(values) == 0 {
		return nil
	}
	set := client.FleetValues(values)
	return &set
}

// given is nil for a flag that is not there.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
