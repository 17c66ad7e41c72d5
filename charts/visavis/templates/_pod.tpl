{{/*
The one pod template, of the chart's own pods and of those that the operator runs:
  root, component
  args       of the binary; the operator gives its pods theirs
  resources
  account    the ServiceAccount; none has a token unless token is true
  once       a Job's pod: no ports, no probes
  http       callers reach it at port 8080
  bare       it has neither settings, keys nor files: it may run before they are there
  database   the Secret with the directory's URL; a pod that is bare has none unless given
  mail       it writes mails, or lets people ask for one
  extra      (env, ports, volumeMounts, volumes) of its own
*/}}
{{- define "visavis.pod" -}}
{{- $root := .root -}}
{{- $v := $root.Values -}}
{{- /* It connects to databases: what proves who is at either end is mounted. */}}
{{- $connects := or (not .bare) .database -}}
{{- $extra := .extra | default dict -}}
{{- /* It writes, or takes, what visitors are asked to answer. */}}
{{- $answers := and .mail $v.mail.inbound.domain -}}
{{- /* It is told of commits. */}}
{{- $hears := and $v.hints.enabled (has .component (list "worker" "reader")) -}}
metadata:
  labels:
    {{- include "visavis.selector" (list $root .component) | nindent 4 }}
    {{- with $v.pods.labels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    kubectl.kubernetes.io/default-container: visavis
    {{- if not .bare }}
    {{- /* What a pod reads once, at its start, rolls the pods when it changes. Whoever sees
           a pod could try passwords on what has one in it. */}}
    {{- $database := urlParse $v.database.url }}
    checksum/settings: {{ printf "%s%s%s" (include "visavis.settings" $root) $v.plans (toJson (list $v.database.secretName $v.database.key $database.host $database.path)) | sha256sum | trunc 16 }}
    {{- end }}
    {{- with $v.pods.annotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  {{- with .account }}
  serviceAccountName: {{ . }}
  {{- end }}
  automountServiceAccountToken: {{ .token | default false }}
  enableServiceLinks: false
  {{- with $v.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with $v.pods.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $v.pods.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $v.pods.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $v.pods.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- if .once }}
  restartPolicy: Never
  {{- else }}
  {{- /* Out of the Service first, then what is under way, then ten seconds to spare. */}}
  terminationGracePeriodSeconds: {{ add $v.shutdown.preStopSeconds $v.shutdown.drainSeconds 10 }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: {{ $v.pods.spread }}
      labelSelector:
        matchLabels: {{- include "visavis.selector" (list $root $.component) | nindent 10 }}
      {{- /* Another revision's or another shard's pods are no reason to go elsewhere. */}}
      matchLabelKeys: [pod-template-hash]
    {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: {type: RuntimeDefault}
  containers:
    - name: visavis
      image: {{ include "visavis.image" $root }}
      imagePullPolicy: {{ $v.image.pullPolicy }}
      {{- with .args }}
      args: {{ toJson . }}
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      env:
        {{- /* The binary keeps its heap within nine tenths of it. */}}
        - name: VISAVIS_CONTAINER_MEMORY
          valueFrom:
            resourceFieldRef: {resource: limits.memory}
        {{- if $hears }}
        - {name: VISAVIS_HINT_ADDR, value: ":8082"}
        {{- end }}
        {{- if $connects }}
        - name: VISAVIS_DATABASE
          valueFrom:
            secretKeyRef:
              name: {{ .database | default (include "visavis.databaseSecret" $root) }}
              key: {{ $v.database.key }}
        {{- if not .bare }}
        - {name: VISAVIS_CONFIG, value: /etc/visavis/config/settings.yaml}
        {{- end }}
        {{- if and .mail $v.mail.secretName }}
        - name: VISAVIS_MAIL_URL
          valueFrom:
            secretKeyRef:
              name: {{ $v.mail.secretName }}
              key: {{ $v.mail.key }}
        {{- end }}
        {{- if $answers }}
        - {name: VISAVIS_INBOUND_DOMAIN, value: {{ $v.mail.inbound.domain | quote }}}
        - {name: VISAVIS_INBOUND_SECRET, value: /etc/visavis/inbound/secret}
        {{- end }}
        {{- with $extra.env }}{{ toYaml . | nindent 8 }}{{ end }}
        {{- end }}
      {{- with $v.pods.envFrom }}
      envFrom: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- if not .once }}
      ports:
        {{- if .http }}
        - {name: http, containerPort: 8080}
        {{- end }}
        - {name: metrics, containerPort: 8081}
        {{- if $hears }}
        - {name: hints, containerPort: 8082, protocol: UDP}
        {{- end }}
        {{- with $extra.ports }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- /* The database may be away when a pod starts: it has two minutes. */}}
      startupProbe:
        httpGet: {path: /livez, port: metrics}
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: 60
      livenessProbe:
        httpGet: {path: /livez, port: metrics}
        periodSeconds: 10
        timeoutSeconds: 3
      readinessProbe:
        httpGet: {path: /readyz, port: metrics}
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      {{- if .http }}
      lifecycle:
        preStop:
          sleep: {seconds: {{ $v.shutdown.preStopSeconds }}}
      {{- end }}
      {{- end }}
      {{- with .resources }}
      resources: {{ toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        {{- if not .bare }}
        - {name: config, mountPath: /etc/visavis/config, readOnly: true}
        - {name: master-keys, mountPath: /etc/visavis/keys, readOnly: true}
        {{- if not $v.files.url }}
        - {name: files, mountPath: /var/lib/visavis/files}
        {{- end }}
        {{- end }}
        {{- if $connects }}
        {{- if $v.trustedCA.configMapName }}
        - {name: ca, mountPath: /etc/visavis/ca, readOnly: true}
        {{- end }}
        {{- if $answers }}
        - {name: inbound, mountPath: /etc/visavis/inbound, readOnly: true}
        {{- end }}
        {{- with $v.pods.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
        {{- end }}
        {{- with $extra.volumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - name: tmp
      emptyDir: {sizeLimit: {{ $v.pods.temporaryStorage }}}
    {{- if not .bare }}
    - name: config
      configMap: {name: {{ include "visavis.fullname" $root }}}
    - name: master-keys
      secret:
        secretName: {{ include "visavis.masterKeysSecret" $root }}
        items: [{key: {{ $v.masterKeys.key }}, path: master-keys}]
        defaultMode: 0440
    {{- if not $v.files.url }}
    - name: files
      persistentVolumeClaim: {claimName: {{ include "visavis.filesClaim" $root }}}
    {{- end }}
    {{- end }}
    {{- if $connects }}
    {{- with $v.trustedCA.configMapName }}
    - name: ca
      configMap: {name: {{ . }}, items: [{key: {{ $v.trustedCA.key }}, path: ca.crt}]}
    {{- end }}
    {{- if $answers }}
    - name: inbound
      secret:
        secretName: {{ required "mail.inbound.domain needs mail.inbound.secretName" $v.mail.inbound.secretName }}
        items: [{key: {{ $v.mail.inbound.key }}, path: secret}]
        defaultMode: 0440
    {{- end }}
    {{- with $v.pods.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
    {{- end }}
    {{- with $extra.volumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end }}

{{/* What a hook that runs before the release's objects is annotated with: its weight. Only
     a Job stays when it failed, for the log of its pod. */}}
{{- define "visavis.before" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation
{{- end }}
