package dev

// demoDocuments are the demo's resources, as the templates "apply" (all of them, or
// those that are named in .Parts) and "route" (a file for the user to change it with).
const demoDocuments = `
{{- define "apply" -}}
message: the demo
resources:
{{- range .Parts }}
{{- if eq . "endpoints" }}
- type: endpoints
  name: blue
  body:
    cluster_name: blue
    endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: { {{- with split $.Blue }}address: {{ printf "%q" .Host }}, port_value: {{ .Port }}{{ end -}} }}}}]}]
- type: endpoints
  name: green
  body:
    cluster_name: green
    endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: { {{- with split $.Green }}address: {{ printf "%q" .Host }}, port_value: {{ .Port }}{{ end -}} }}}}]}]
{{- else if eq . "clusters" }}
- type: clusters
  name: blue
  body:
    name: blue
    type: EDS
    connect_timeout: 1s
    eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}
- type: clusters
  name: green
  body:
    name: green
    type: EDS
    connect_timeout: 1s
    eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}
{{- else if eq . "listener" }}
- type: listeners
  name: demo
  body:
    name: demo
    address: {socket_address: { {{- with split $.Proxy }}address: {{ printf "%q" .Host }}, port_value: {{ .Port }}{{ end -}} }}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: demo
          rds: {route_config_name: demo, config_source: {ads: {}, resource_api_version: V3}}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
{{- else if eq . "route" }}
- type: routes
  name: demo
  body:
    name: demo
    virtual_hosts: [{name: demo, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: {{ $.Colour }}}}]}]
{{- end }}
{{- end }}
{{ end -}}

{{- define "route" -}}
# Sends all requests to the backend "{{ .Colour }}":
#   fairlead apply -f {{ .Colour }}.yaml --wait
type: routes
name: demo
body:
  name: demo
  virtual_hosts:
  - name: demo
    domains: ["*"]
    routes:
    - match: {prefix: /}
      route: {cluster: {{ .Colour }}}
{{ end -}}
`
