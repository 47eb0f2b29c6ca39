{{- define "sluice.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "sluice.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "sluice.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ include "sluice.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "sluice.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "sluice.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "sluice.fullname" .) -}}
{{- end -}}

{{/* What the gateway would refuse at its start is refused here, before anything is changed in the cluster. */}}
{{- define "sluice.check" -}}
{{- $many := or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled -}}
{{- if not .Values.secret.existingSecret -}}
{{- fail "secret.existingSecret must name a Secret with master-key, admin-password, database-url and redis-url" -}}
{{- end -}}
{{- if not .Values.adminEmail -}}
{{- fail "adminEmail must be the address of the first administrator: without one the gateway listens to its own machine only" -}}
{{- end -}}
{{- if and .Values.embedded $many -}}
{{- fail "embedded is for one pod: set replicas to 1 and autoscaling.enabled to false, or give it PostgreSQL and Redis" -}}
{{- end -}}
{{- if and .Values.embedded (not .Values.persistence.enabled) -}}
{{- fail "embedded keeps its database on the disk: leave persistence.enabled on" -}}
{{- end -}}
{{- if and $many (not .Values.bucket.name) (ne .Values.blobs "separate") -}}
{{- fail "several pods need a bucket (bucket.name): each has a disk of its own. `blobs: separate` goes without; see docs/deployment.md" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.host must be set with ingress.enabled" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs must name the Gateway, with httpRoute.enabled" -}}
{{- end -}}
{{- end -}}
