package main

import (
	"bytes"
	"encoding/json"
)

// dashboard is one of Grafana's.
type dashboard struct {
	title, uid string
	variables  []variable
	rows       []row
}

// variable is one whose values a query finds.
type variable struct{ name, query string }

type row struct {
	title  string
	panels []panel
}

// panel is a graph, or a figure if it is one.
type panel struct {
	title, description, unit string
	figure                   bool
	queries                  []query
}

type query struct{ expr, legend string }

func one(expr, legend string) []query { return []query{{expr, legend}} }

// dashboards are all of them by the names of their files.
func dashboards() map[string]dashboard {
	return map[string]dashboard{"installation": installation(), "tenant": tenant(), "fleet": oneFleet()}
}

var (
	tenantVariable = variable{"tenant", "label_values(fairlead_fleet_streams, tenant)"}
	fleetVariable  = variable{"fleet", `label_values(fairlead_fleet_streams{tenant="$tenant"}, fleet)`}
)

func installation() dashboard {
	return dashboard{"Fairlead: installation", "fairlead-installation", nil, []row{
		{"Now", []panel{
			{"Servers", "Servers that answer, by program.", "short", true, one("count by (program) (fairlead_build_info)", "{{program}}")},
			{"Nodes", "Proxies with streams.", "short", true, one("sum(fairlead_nodes)", "nodes")},
			{"Nodes behind", "Those that have not confirmed the newest revision. A moment after each change all are.", "short", true, one("sum(fairlead_nodes_behind)", "behind")},
			{"Streams that refuse", "Their clients go on with an older version of something, or without it.", "short", true, one("sum(fairlead_fleet_streams_refusing)", "refuse")},
			{"Alerts", "Alerts of Fairlead that fire.", "short", true, one(`count(ALERTS{alertname=~"Fairlead.*", alertstate="firing"}) or vector(0)`, "firing")},
			{"First certificate to end", "Until the certificate ends that does so first.", "s", true, one("min(fairlead_certificate_expiry_timestamp_seconds) - time()", "certificate")},
		}},
		{"Changes on their way", []panel{
			{"Commit to ACK", "How long changes take to proxies: half of them, and 99 of 100.", "s", false, []query{
				{"histogram_quantile(0.5, sum by (cell, le) (rate(fairlead_revision_commit_to_ack_seconds_bucket[$__rate_interval])))", "half {{cell}}"},
				{"fairlead:commit_to_ack_seconds:p99", "99 of 100 {{cell}}"},
			}},
			{"Of that: until it is sent", "From the commit to the first response, 99 of 100.", "s", false, one("histogram_quantile(0.99, sum by (cell, le) (rate(fairlead_revision_commit_to_sent_seconds_bucket[$__rate_interval])))", "99 of 100 {{cell}}")},
			{"Of that: until it is confirmed", "From the response to the ACK, 99 of 100: the proxy's own time.", "s", false, one("histogram_quantile(0.99, sum by (cell, le) (rate(fairlead_revision_sent_to_ack_seconds_bucket[$__rate_interval])))", "99 of 100 {{cell}}")},
			{"Newest not known", "How long a server has not known whether what it serves is the newest.", "s", false, one("fairlead_fleets_unconfirmed_seconds", "{{instance}} {{cell}}")},
		}},
		{"xDS servers", []panel{
			{"Streams", "Streams of discovery by client.", "short", false, one("sum by (client) (fairlead_xds_streams)", "{{client}}")},
			{"Responses", "Responses that are sent, by type.", "ops", false, one("sum by (type) (rate(fairlead_xds_responses_total[$__rate_interval]))", "{{type}}")},
			{"NACKs", "Responses that clients refuse, by type.", "ops", false, one("sum by (type) (rate(fairlead_xds_nacks_total[$__rate_interval]))", "{{type}}")},
			{"Not let in", "Clients that are not let in, or not given what they ask for, by reason.", "ops", false, one("sum by (reason) (rate(fairlead_xds_denied_total[$__rate_interval]))", "{{reason}}")},
			{"Kept from clients", "Streams from which something is kept, by reason.", "short", false, one("sum by (reason) (fairlead_xds_streams_withheld)", "{{reason}}")},
			{"Lease", "Since a server has renewed its lease. From 6 s on it counts as gone.", "s", false, one("time() - fairlead_lease_last_renewed_timestamp_seconds", "{{instance}} {{cell}}")},
			{"Notifications last heard", "Since the connection for NOTIFY was known to listen.", "s", false, one("time() - fairlead_listener_last_heard_timestamp_seconds", "{{instance}} {{cell}}")},
			{"Reports overdue", "How long the report that has waited most has been due.", "s", false, one("fairlead_report_queue_overdue_seconds", "{{instance}} {{cell}}")},
		}},
		{"API servers", []panel{
			{"Requests", "Requests that are answered, by status.", "reqps", false, one(`sum by (status) (rate(fairlead_api_requests_total{operation!="other"}[$__rate_interval]))`, "{{status}}")},
			{"Errors", "The share of requests that are answered with a status from 500 on.", "percentunit", false, one("fairlead:api_errors:ratio", "errors {{cell}}")},
			{"Duration", "How long 99 of 100 requests take, without those that wait because they were asked to.", "s", false, one("fairlead:api_request_seconds:p99", "99 of 100 {{cell}}")},
			{"Slowest operations", "The five operations of which the slowest hundredth takes longest.", "s", false, one("topk(5, histogram_quantile(0.99, sum by (operation, le) (rate(fairlead_api_request_duration_seconds_bucket[$__rate_interval]))))", "{{operation}}")},
			{"Waiting to compute", "What is read, checked and compared and waits for its turn.", "short", false, one("sum by (size) (fairlead_compute_waiting)", "{{size}}")},
		}},
		{"Postgres", []panel{
			{"Calls that fail", "Calls of the database that fail, by reason. Refused ones are conflicts and broken preconditions.", "ops", false, one("sum by (cell, program, reason) (rate(fairlead_database_failures_total[$__rate_interval]))", "{{program}} {{reason}} {{cell}}")},
			{"Wait for a connection", "How long 99 of 100 calls wait for their turn.", "s", false, one("fairlead:database_wait_seconds:p99", "{{program}} {{lane}} {{cell}}")},
			{"Time of a call", "How long 99 of 100 calls take from then on.", "s", false, one("histogram_quantile(0.99, sum by (cell, program, lane, le) (rate(fairlead_database_call_seconds_bucket[$__rate_interval])))", "{{program}} {{lane}} {{cell}}")},
			{"Connections in use", "The share of a pool's connections that are in use.", "percentunit", false, one(`sum by (cell, instance, program, pool) (fairlead_database_connections{state="acquired"}) / on(cell, instance, program, pool) sum by (cell, instance, program, pool) (fairlead_database_connections_maximum)`, "{{instance}} {{program}} {{pool}} {{cell}}")},
			{"Clock", "How far Postgres's clock is ahead of a server's.", "s", false, one("fairlead_database_clock_offset_seconds", "{{instance}} {{cell}}")},
		}},
		{"Processes", []panel{
			{"Processor", "Processors in use.", "short", false, one(`rate(process_cpu_seconds_total{job="fairlead"}[$__rate_interval])`, "{{instance}}")},
			{"Memory", "Memory that is resident.", "bytes", false, one(`process_resident_memory_bytes{job="fairlead"}`, "{{instance}}")},
			{"Open files", "The share of the files that may be open.", "percentunit", false, one(`process_open_fds{job="fairlead"} / process_max_fds{job="fairlead"}`, "{{instance}}")},
			{"Goroutines", "Goroutines.", "short", false, one(`go_goroutines{job="fairlead"}`, "{{instance}}")},
		}},
	}}
}

// tenant has what is told of fleets: those of --metrics-fleets. What is of others stands below the tenant "other".
func tenant() dashboard {
	return dashboard{"Fairlead: tenant", "fairlead-tenant", []variable{tenantVariable}, []row{
		{"Now", []panel{
			{"Fleets with streams", "Fleets of the tenant that have streams.", "short", true, one(`count(sum by (fleet) (fairlead_fleet_streams{tenant="$tenant"}) > 0) or vector(0)`, "fleets")},
			{"Streams", "Streams of the tenant's fleets.", "short", true, one(`sum(fairlead_fleet_streams{tenant="$tenant"})`, "streams")},
			{"Nodes behind", "Nodes that have not confirmed the newest revision of their fleet.", "short", true, one(`sum(fairlead_fleet_nodes_behind{tenant="$tenant"})`, "behind")},
			{"Streams that refuse", "Their clients go on with an older version of something, or without it.", "short", true, one(`sum(fairlead_fleet_streams_refusing{tenant="$tenant"})`, "refuse")},
		}},
		{"Fleets", []panel{
			{"Streams by fleet", "Streams of each fleet.", "short", false, one(`sum by (fleet) (fairlead_fleet_streams{tenant="$tenant"})`, "{{fleet}}")},
			{"Behind for", "For how long the node of each fleet that is behind for longest has been so.", "s", false, one(`max by (fleet) (fairlead_fleet_behind_seconds{tenant="$tenant"})`, "{{fleet}}")},
			{"Nodes behind by fleet", "Nodes of each fleet that have not confirmed its newest revision.", "short", false, one(`sum by (fleet) (fairlead_fleet_nodes_behind{tenant="$tenant"})`, "{{fleet}}")},
			{"Refusing by fleet", "Streams of each fleet whose client refuses something.", "short", false, one(`sum by (fleet) (fairlead_fleet_streams_refusing{tenant="$tenant"})`, "{{fleet}}")},
			{"NACKs by fleet", "Responses that clients of each fleet refuse.", "ops", false, one(`sum by (fleet) (rate(fairlead_fleet_nacks_total{tenant="$tenant"}[$__rate_interval]))`, "{{fleet}}")},
		}},
		{"Load", []panel{
			{"Requests by fleet", "Requests that proxies report, where servers run with --metrics-load-clusters.", "reqps", false, one(`sum by (fleet) (rate(fairlead_load_requests_total{tenant="$tenant"}[$__rate_interval]))`, "{{fleet}}")},
			{"Errors by fleet", "The share of these that failed.", "percentunit", false, one(`sum by (fleet) (rate(fairlead_load_requests_total{tenant="$tenant", result="error"}[$__rate_interval])) / sum by (fleet) (rate(fairlead_load_requests_total{tenant="$tenant"}[$__rate_interval]))`, "{{fleet}}")},
		}},
	}}
}

func oneFleet() dashboard {
	const of = `{tenant="$tenant", fleet="$fleet"}`
	return dashboard{"Fairlead: fleet", "fairlead-fleet", []variable{tenantVariable, fleetVariable}, []row{
		{"Now", []panel{
			{"Streams", "Streams of the fleet.", "short", true, one("sum(fairlead_fleet_streams"+of+")", "streams")},
			{"Nodes behind", "Nodes that have not confirmed the newest revision.", "short", true, one("sum(fairlead_fleet_nodes_behind"+of+")", "behind")},
			{"Behind for", "For how long the one that is behind for longest has been so.", "s", true, one("max(fairlead_fleet_behind_seconds"+of+")", "behind")},
			{"Streams that refuse", "Their clients go on with an older version of something, or without it.", "short", true, one("sum(fairlead_fleet_streams_refusing"+of+")", "refuse")},
		}},
		{"Nodes", []panel{
			{"Streams by server", "Streams of the fleet on each xDS server.", "short", false, one("fairlead_fleet_streams"+of, "{{instance}}")},
			{"Behind by server", "Nodes of the fleet on each xDS server that have not confirmed its newest revision.", "short", false, one("fairlead_fleet_nodes_behind"+of, "{{instance}}")},
			{"Refusing by server", "Streams on each xDS server whose client refuses something.", "short", false, one("fairlead_fleet_streams_refusing"+of, "{{instance}}")},
			{"NACKs", "Responses that clients refuse.", "ops", false, one("sum(rate(fairlead_fleet_nacks_total"+of+"[$__rate_interval]))", "NACKs")},
		}},
		{"Load of its proxies, where servers run with --metrics-load-clusters", []panel{
			{"Requests by cluster", "Requests that have ended.", "reqps", false, one("sum by (cluster) (rate(fairlead_load_requests_total"+of+"[$__rate_interval]))", "{{cluster}}")},
			{"Errors by cluster", "The share of these that failed.", "percentunit", false, one(`sum by (cluster) (rate(fairlead_load_requests_total{tenant="$tenant", fleet="$fleet", result="error"}[$__rate_interval])) / sum by (cluster) (rate(fairlead_load_requests_total`+of+"[$__rate_interval]))", "{{cluster}}")},
			{"In progress by cluster", "Requests in progress, on average.", "short", false, one("sum by (cluster) (rate(fairlead_load_in_progress_seconds_total"+of+"[$__rate_interval]))", "{{cluster}}")},
			{"Dropped by cluster", "Requests that proxies did not send.", "reqps", false, one("sum by (cluster) (rate(fairlead_load_dropped_requests_total"+of+"[$__rate_interval]))", "{{cluster}}")},
		}},
	}}
}

type object = map[string]any

var datasource = object{"type": "prometheus", "uid": "${datasource}"}

const (
	columns      = 24
	figureHeight = 4
	graphHeight  = 8
)

// json is what Grafana imports.
func (d dashboard) json() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(object{
		"title": d.title, "uid": d.uid, "tags": []string{"fairlead"}, "schemaVersion": 39, "version": 1, "editable": true, "graphTooltip": 1,
		"time": object{"from": "now-6h", "to": "now"}, "refresh": "30s",
		"links":      []object{{"title": "Fairlead", "type": "dashboards", "tags": []string{"fairlead"}, "asDropdown": true, "includeVars": true, "keepTime": true}},
		"templating": object{"list": d.templating()}, "panels": d.panels(),
	})
	return b.Bytes(), err
}

func (d dashboard) templating() []object {
	list := []object{{"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}}
	for _, v := range d.variables {
		list = append(list, object{
			"name": v.name, "label": v.name, "type": "query", "datasource": datasource, "definition": v.query,
			"query": object{"query": v.query, "refId": v.name}, "refresh": 2, "sort": 1, "multi": false, "includeAll": false,
		})
	}
	return list
}

func (d dashboard) panels() (list []object) {
	id, y := 1, 0
	for _, r := range d.rows {
		list = append(list, object{"id": id, "type": "row", "title": r.title, "collapsed": false, "panels": []object{}, "gridPos": object{"x": 0, "y": y, "w": columns, "h": 1}})
		id, y = id+1, y+1
		x, height := 0, 0
		for _, p := range r.panels {
			w, h := columns/2, graphHeight
			if p.figure {
				w, h = max(4, columns/len(r.panels)), figureHeight
			}
			if x+w > columns {
				x, y = 0, y+height
			}
			list = append(list, p.object(id, object{"x": x, "y": y, "w": w, "h": h}))
			id, x, height = id+1, x+w, h
		}
		y += height
	}
	return list
}

func (p panel) object(id int, place object) object {
	o := object{
		"id": id, "title": p.title, "description": p.description, "type": "timeseries", "datasource": datasource, "gridPos": place,
		"fieldConfig": object{"defaults": object{"unit": p.unit}, "overrides": []object{}},
		"options":     object{"legend": object{"displayMode": "list", "placement": "bottom"}, "tooltip": object{"mode": "multi", "sort": "desc"}},
	}
	if p.figure {
		o["type"], o["options"] = "stat", object{"colorMode": "value", "graphMode": "area", "reduceOptions": object{"calcs": []string{"lastNotNull"}}}
	}
	var targets []object
	for i, q := range p.queries {
		targets = append(targets, object{"refId": string(rune('A' + i)), "datasource": datasource, "expr": q.expr, "legendFormat": q.legend})
	}
	o["targets"] = targets
	return o
}
