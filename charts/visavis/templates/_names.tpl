{{/* R: what the names of the release's objects begin with. */}}
{{- define "visavis.fullname" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* The labels that select pods: (list $ "api"). They never change. */}}
{{- define "visavis.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: visavis
app.kubernetes.io/instance: {{ include "visavis.fullname" $root }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Every object's labels: (list $ "api"). */}}
{{- define "visavis.labels" -}}
{{- $root := index . 0 -}}
{{ include "visavis.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "visavis.image" -}}
{{- with .Values.image -}}
{{- $repository := required "image.repository is missing: set it to where your cluster pulls the image from, such as registry.example.com/visavis" .repository -}}
{{- if .digest }}{{ $repository }}@{{ .digest }}{{ else }}{{ $repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end }}

{{- define "visavis.databaseSecret" -}}
{{- .Values.database.secretName | default (printf "%s-database" (include "visavis.fullname" .)) -}}
{{- end }}

{{- define "visavis.masterKeysSecret" -}}
{{- .Values.masterKeys.secretName | default (printf "%s-master-keys" (include "visavis.fullname" .)) -}}
{{- end }}

{{- define "visavis.filesClaim" -}}
{{- .Values.files.volume.existingClaim | default (printf "%s-files" (include "visavis.fullname" .)) -}}
{{- end }}

{{/* Where a host of the ingress is: (list $ "http" host fallback). */}}
{{- define "visavis.url" -}}
{{- $i := (index . 0).Values.ingress -}}
{{- $host := index . 2 | default $i.hosts.api -}}
{{- if and $i.enabled $host -}}
{{ index . 1 }}{{ ternary "s" "" $i.tls.enabled }}://{{ $host }}
{{- else -}}
{{ index . 1 }}://{{ include "visavis.fullname" (index . 0) }}-{{ index . 3 }}.{{ (index . 0).Release.Namespace }}.svc
{{- end -}}
{{- end }}

{{- define "visavis.publicURL" -}}
{{- .Values.urls.public | default (include "visavis.url" (list . "http" .Values.ingress.hosts.api "api")) -}}
{{- end }}

{{- define "visavis.portalURL" -}}
{{- .Values.urls.portal | default (include "visavis.url" (list . "http" .Values.ingress.hosts.portal "portal")) -}}
{{- end }}

{{- define "visavis.liveURL" -}}
{{- .Values.urls.live | default (include "visavis.url" (list . "ws" .Values.ingress.hosts.live "portal")) -}}
{{- end }}

{{/* The Service of those who are told of commits: (list $ "worker"). */}}
{{- define "visavis.hints" -}}
{{ include "visavis.fullname" (index . 0) }}-{{ index . 1 }}-hints
{{- end }}

{{/* The file of settings that every process reads. */}}
{{- define "visavis.settings" -}}
{{- $s := dict "addr" ":8080" "admin-addr" ":8081" "drain" (printf "%ds" (int .Values.shutdown.drainSeconds))
  "public-url" (include "visavis.publicURL" .) "portal-url" (include "visavis.portalURL" .) "live-url" (include "visavis.liveURL" .)
  "master-keys" "/etc/visavis/keys/master-keys" -}}
{{- with .Values.files.url }}{{ $_ := set $s "files" . }}{{ end -}}
{{- if .Values.trustedCA.configMapName }}{{ $_ := set $s "trust-ca" "/etc/visavis/ca/ca.crt" }}{{ end -}}
{{- if .Values.hints.enabled }}
{{- $targets := list }}
{{- range list "worker" "reader" }}
{{- $targets = append $targets (printf "%s.%s.svc:8082" (include "visavis.hints" (list $ .)) $.Release.Namespace) }}
{{- end }}
{{- $_ := set $s "hint-target" $targets }}
{{- end -}}
{{- if .Values.plans }}{{ $_ := set $s "plans" "/etc/visavis/config/plans.yaml" }}{{ end -}}
{{- toYaml (mergeOverwrite $s (deepCopy .Values.settings)) -}}
{{- end }}

{{- /* The namespaces whose custom resources the operator brings about, as a YAML list; "*" is
       among them where it is every one. */}}
{{- define "visavis.servedNamespaces" -}}
{{- $given := .Values.operator.namespaces }}
{{- if and (has "*" $given) (gt (len $given) 1) }}
{{- fail "operator.namespaces: give [\"*\"] alone, or names" }}
{{- end }}
{{- if has "*" $given }}
{{- toYaml $given }}
{{- else }}
{{- prepend $given .Release.Namespace | uniq | toYaml }}
{{- end }}
{{- end }}
