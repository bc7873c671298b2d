{{- define "fairlead.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "fairlead.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "fairlead.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "fairlead.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What selects the pods of a part: (list $ "api") */}}
{{- define "fairlead.selector" -}}
app.kubernetes.io/name: {{ include "fairlead.name" (index . 0) }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "fairlead.labels" -}}
{{ include "fairlead.selector" . }}
app.kubernetes.io/part-of: fairlead
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "fairlead.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ printf "%s@%s" .repository .digest }}{{ else }}{{ printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "fairlead.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "fairlead.fullname" .) .Values.serviceAccount.name }}{{ else }}{{ default "default" .Values.serviceAccount.name }}{{ end -}}
{{- end -}}

{{/* The Secret of a server's certificate: (list $ "api") */}}
{{- define "fairlead.tlsSecret" -}}
{{- $ := index . 0 -}}
{{- $part := index . 1 -}}
{{- $given := index $.Values.tls (printf "%sSecret" $part) -}}
{{- if $given }}{{ $given }}
{{- else if $.Values.tls.certManager.enabled }}{{ printf "%s-%s-tls" (include "fairlead.fullname" $) $part }}
{{- else }}{{ fail (printf "tls.%sSecret is not set: name a Secret of the type kubernetes.io/tls, or set tls.certManager.enabled" $part) }}
{{- end -}}
{{- end -}}

{{/* The URL of a host without a password: (dict "root" $ "user" "fairlead_app" "host" "db" "port" 5432) */}}
{{- define "fairlead.url" -}}
{{- $d := .root.Values.database -}}
{{- if not .host }}{{ fail "database.host is not set: name the host of a Postgres, or a Secret with URLs in database.urlSecret" }}{{ end -}}
{{- $hosts := list -}}
{{- range splitList "," .host }}{{ $hosts = append $hosts (printf "%s:%d" (trim .) (int $.port)) }}{{ end -}}
{{- $query := list (printf "sslmode=%s" $d.sslmode) -}}
{{- if $d.caSecret.name }}{{ $query = append $query "sslrootcert=/etc/fairlead/database/ca.crt" }}{{ end -}}
{{- range $k, $v := $d.parameters }}{{ $query = append $query (printf "%s=%s" $k (urlquery $v)) }}{{ end -}}
{{- printf "postgres://%s@%s/%s?%s" .user (join "," $hosts) $d.name (join "&" $query) -}}
{{- end -}}

{{/* The environment that leads to the database: (dict "root" $ "part" "api" "variable" "FAIRLEAD_DATABASE_URL" "cells" "FAIRLEAD_CELLS_FILE" "host" ... "port" ...) */}}
{{- define "fairlead.database" -}}
{{- $d := .root.Values.database -}}
{{- if $d.cellsSecret }}
{{- if or $d.urlSecret $d.listen.enabled $d.read.enabled }}{{ fail "database.cellsSecret is set, and the URLs of each cell stand in it: leave out database.urlSecret, database.listen and database.read" }}{{ end }}
- name: {{ .cells }}
  value: /etc/fairlead/cells/cells.yaml
{{- else if $d.urlSecret }}
- name: {{ .variable }}
  valueFrom: {secretKeyRef: {name: {{ $d.urlSecret }}, key: {{ .part }}}}
{{- else }}
- name: {{ .variable }}
  value: {{ include "fairlead.url" (dict "root" .root "user" (index $d.users .part) "host" .host "port" .port) | quote }}
- name: PGPASSWORD
  valueFrom: {secretKeyRef: {name: {{ $d.passwordSecret }}, key: {{ .part }}}}
{{- end }}
{{- end -}}

{{/* The files that belong to it: (list $ "api") */}}
{{- define "fairlead.databaseMounts" -}}
{{- with (index . 0).Values.database }}
{{- if .caSecret.name }}
- {name: database, mountPath: /etc/fairlead/database, readOnly: true}
{{- end }}
{{- if .cellsSecret }}
- {name: cells, mountPath: /etc/fairlead/cells, readOnly: true}
{{- end }}
{{- end }}
{{- end -}}

{{- define "fairlead.databaseVolumes" -}}
{{- $part := index . 1 -}}
{{- with (index . 0).Values.database }}
{{- if .caSecret.name }}
- name: database
  secret: {secretName: {{ .caSecret.name }}, defaultMode: 0400, items: [{key: {{ .caSecret.key }}, path: ca.crt}]}
{{- end }}
{{- if .cellsSecret }}
- name: cells
  secret: {secretName: {{ .cellsSecret }}, defaultMode: 0400, items: [{key: {{ $part }}, path: cells.yaml}]}
{{- end }}
{{- end }}
{{- end -}}

{{/* Variables that are not values of their own. */}}
{{- define "fairlead.extraEnv" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* A pod that may do nothing but its work: (list $ 65532) */}}
{{- define "fairlead.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ index . 1 }}
  runAsGroup: {{ index . 1 }}
  fsGroup: {{ index . 1 }}
  seccompProfile: {type: RuntimeDefault}
{{- with (index . 0).Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "fairlead.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{- define "fairlead.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 2
  failureThreshold: 30
livenessProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  httpGet: {path: /readyz, port: health}
  periodSeconds: 5
  timeoutSeconds: 5
# Whoever was told of this pod hears meanwhile that it ends.
lifecycle:
  preStop: {sleep: {seconds: 5}}
{{- end -}}

{{/* Where pods go: (list $ "api") */}}
{{- define "fairlead.placement" -}}
{{- $ := index . 0 -}}
{{- $part := index . 1 -}}
{{- $v := index $.Values $part -}}
{{- with $.Values.topologySpread -}}
{{- if .enabled }}
topologySpreadConstraints:
{{- range .topologyKeys }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ $.Values.topologySpread.whenUnsatisfiable }}
    labelSelector:
      matchLabels: {{ include "fairlead.selector" (list $ $part) | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}
{{- end }}
{{- with $v.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $v.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $v.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $v.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}
