{{/* Ranges as peers. */}}
{{- define "visavis.ranges" -}}
{{- range . }}
- ipBlock: {cidr: {{ . | quote }}}
{{- end }}
{{- end }}

{{- define "visavis.ports" -}}
{{- range . }}
- {protocol: TCP, port: {{ . }}}
{{- end }}
{{- end }}

{{/* The names of hosts. */}}
{{- define "visavis.egress.dns" -}}
- ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{- end }}

{{/* The databases, and what the values add. */}}
{{- define "visavis.egress.databases" -}}
{{- with .Values.networkPolicy -}}
- ports: {{- include "visavis.ports" .databasePorts | nindent 4 }}
  {{- if or .databaseCIDRs .databasePeers }}
  to:
    {{- with .databaseCIDRs }}{{ include "visavis.ranges" . | nindent 4 }}{{ end }}
    {{- with .databasePeers }}{{ toYaml . | nindent 4 }}{{ end }}
  {{- end }}
{{- with .extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
{{- end }}

{{/* The API server. */}}
{{- define "visavis.egress.apiServer" -}}
{{- with .Values.networkPolicy -}}
- ports: {{- include "visavis.ports" .apiServerPorts | nindent 4 }}
  {{- with .apiServerCIDRs }}
  to: {{- include "visavis.ranges" . | nindent 4 }}
  {{- end }}
{{- end -}}
{{- end }}

{{/* The public internet, without what is special and what is the cluster's own. The
     processes refuse such addresses themselves; this holds where they fail to. */}}
{{- define "visavis.internet" -}}
{{- $four := list "0.0.0.0/8" "10.0.0.0/8" "100.64.0.0/10" "127.0.0.0/8" "168.63.129.16/32" "169.254.0.0/16" "172.16.0.0/12"
  "192.0.0.0/24" "192.0.2.0/24" "192.88.99.0/24" "192.168.0.0/16" "198.18.0.0/15" "198.51.100.0/24" "203.0.113.0/24"
  "224.0.0.0/4" "240.0.0.0/4" -}}
{{- /* Outside of 2000::/3 nothing is public. */}}
{{- $six := list "2001::/23" "2001:db8::/32" "2002::/16" -}}
{{- range .Values.networkPolicy.clusterCIDRs }}
{{- if not (contains ":" .) }}{{ $four = append $four . }}
{{- else if regexMatch "^[23]" . }}{{ $six = append $six . }}
{{- end }}
{{- end -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: {{ $four | uniq | toJson }}
- ipBlock:
    cidr: 2000::/3
    except: {{ $six | uniq | toJson }}
{{- end }}

{{- define "visavis.egress.internet" -}}
- ports:
    - {protocol: TCP}
  to: {{- include "visavis.internet" . | nindent 4 }}
{{- end }}

{{/* The customers' media servers: a portal is in their rooms. */}}
{{- define "visavis.egress.media" -}}
- ports:
    - {protocol: UDP}
  to: {{- include "visavis.internet" . | nindent 4 }}
{{- end }}

{{/* Those who work, to tell them of commits. */}}
{{- define "visavis.egress.hints" -}}
{{- if .Values.hints.enabled }}
- ports:
    - {protocol: UDP, port: hints}
  to:
    - podSelector:
        matchLabels:
          app.kubernetes.io/name: visavis
          app.kubernetes.io/instance: {{ include "visavis.fullname" . }}
        matchExpressions:
          - {key: app.kubernetes.io/component, operator: In, values: [worker, reader]}
{{- end }}
{{- end }}

{{/* Those who tell of commits. */}}
{{- define "visavis.ingress.hints" -}}
{{- if .Values.hints.enabled }}
- ports:
    - {protocol: UDP, port: hints}
  from:
    - podSelector:
        matchLabels:
          app.kubernetes.io/name: visavis
          app.kubernetes.io/instance: {{ include "visavis.fullname" . }}
{{- end }}
{{- end }}

{{/* Whoever reads metrics. */}}
{{- define "visavis.ingress.metrics" -}}
- ports:
    - {protocol: TCP, port: metrics}
  from:
    - namespaceSelector: {{ toYaml .Values.networkPolicy.monitoringNamespaces | nindent 8 }}
{{- end }}

{{/* Callers, from anywhere. */}}
{{- define "visavis.ingress.http" -}}
- ports:
    - {protocol: TCP, port: http}
{{- end }}

{{- define "visavis.networkPolicy.worker" -}}
podSelector:
  matchLabels: {{- include "visavis.selector" (list . "worker") | nindent 4 }}
policyTypes: [Ingress, Egress]
ingress:
  {{- include "visavis.ingress.metrics" . | nindent 2 }}
  {{- include "visavis.ingress.hints" . | nindent 2 }}
egress:
  {{- include "visavis.egress.dns" . | nindent 2 }}
  {{- include "visavis.egress.databases" . | nindent 2 }}
  {{- include "visavis.egress.hints" . | nindent 2 }}
  {{- include "visavis.egress.internet" . | nindent 2 }}
{{- end }}

{{/* A portal brings a socket that came to the wrong one to the right one. */}}
{{- define "visavis.networkPolicy.portal" -}}
podSelector:
  matchLabels: {{- include "visavis.selector" (list . "portal") | nindent 4 }}
policyTypes: [Ingress, Egress]
ingress:
  {{- include "visavis.ingress.http" . | nindent 2 }}
  {{- include "visavis.ingress.metrics" . | nindent 2 }}
  {{- if .Values.portal.webrtc.hostPort }}
  - ports:
      - {protocol: UDP, port: webrtc}
  {{- end }}
egress:
  {{- include "visavis.egress.dns" . | nindent 2 }}
  {{- include "visavis.egress.databases" . | nindent 2 }}
  {{- include "visavis.egress.hints" . | nindent 2 }}
  {{- include "visavis.egress.internet" . | nindent 2 }}
  {{- include "visavis.egress.media" . | nindent 2 }}
  - ports:
      - {protocol: TCP, port: http}
    to:
      - podSelector:
          matchLabels: {{- include "visavis.selector" (list . "portal") | nindent 12 }}
{{- end }}
