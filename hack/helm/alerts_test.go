package helm_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// foreign are metrics that other programs and libraries have, and the operator's.
var foreign = map[string]bool{
	"controller_runtime_reconcile_errors_total": true, // controller-runtime
	"controller_runtime_reconcile_total":        true,
	"controller_runtime_reconcile_time_seconds": true,
	"leader_election_master_status":             true, // client-go
	"workqueue_depth":                           true,
	"rest_client_requests_total":                true,
	"kube_job_failed":                           true, // kube-state-metrics
	"process_cpu_seconds_total":                 true, // client_golang
	"process_resident_memory_bytes":             true,
	"up":                                        true, // Prometheus
	"visavis_operator_backlog_age_seconds":      true,
	"visavis_operator_resource_ready":           true,
	"visavis_operator_transitions_total":        true,
}

// own are the metrics that the code defines.
func own(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	literal := regexp.MustCompile(`"(visavis_[a-z_]+)"`)
	described := regexp.MustCompile(`describe\("([a-z_]+)"`)
	for _, root := range []string{"../../pkg", "../../api"} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
				names[m[1]] = true
			}
			for _, m := range described.FindAllStringSubmatch(string(text), -1) {
				names["visavis_database_"+m[1]] = true
			}
			return err
		}))
	}
	return names
}

// requireMetrics asks that an expression parses and is of metrics that there are.
func requireMetrics(t *testing.T, own map[string]bool, expression string) {
	t.Helper()
	parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expression)
	require.NoError(t, err, expression)
	selectors := parser.ExtractSelectors(parsed)
	require.NotEmpty(t, selectors, expression)
	for _, s := range selectors {
		for _, m := range s {
			if m.Name != "__name__" {
				continue
			}
			base := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(m.Value, "")
			require.Truef(t, own[base] || foreign[base] || own[m.Value], "there is no metric %s", m.Value)
		}
	}
}

func TestAlerts(t *testing.T) {
	metrics := own(t)
	require.Contains(t, metrics, "visavis_live_sessions")
	runbooks, err := os.ReadFile("../../docs/runbooks.md")
	require.NoError(t, err)
	alerts := 0
	for _, g := range named[*monitoring.PrometheusRule](t, render(t, everything), release).Spec.Groups {
		for _, r := range g.Rules {
			alerts++
			requireMetrics(t, metrics, r.Expr.String())
			require.Contains(t, r.Annotations["runbook_url"], "runbooks.md#"+strings.ToLower(r.Alert))
			require.NotEmpty(t, r.Annotations["summary"])
			require.Contains(t, []string{"critical", "warning", "info"}, r.Labels["severity"])
			require.Contains(t, string(runbooks), "\n## "+r.Alert+"\n", "its runbook")
		}
	}
	require.Equal(t, strings.Count(string(runbooks), "\n## Visavis"), alerts, "a runbook for each alert, and no others")
}

// panel is one of a dashboard's.
type panel struct {
	Title   string                   `json:"title"`
	Targets []struct{ Expr string }  `json:"targets"`
	GridPos struct{ X, Y, W, H int } `json:"gridPos"`
	ID      int                      `json:"id"`
}

func TestDashboard(t *testing.T) {
	text := named[*corev1.ConfigMap](t, render(t, everything), release+"-dashboard").Data["visavis.json"]
	var board struct {
		UID    string  `json:"uid"`
		Panels []panel `json:"panels"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &board))
	require.NotEmpty(t, board.UID)
	metrics := own(t)
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", "vis", "$namespace", "platform")
	ids := map[int]bool{}
	for _, p := range board.Panels {
		require.False(t, ids[p.ID], p.Title)
		ids[p.ID] = true
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for _, target := range p.Targets {
			requireMetrics(t, metrics, variables.Replace(target.Expr))
		}
	}
}

func TestPodMonitor(t *testing.T) {
	all := render(t, everything)
	m := named[*monitoring.PodMonitor](t, all, release)
	require.Equal(t, release, m.Spec.Selector.MatchLabels["app.kubernetes.io/instance"])
	require.Empty(t, of[*monitoring.PodMonitor](render(t, least)))
	require.Empty(t, of[*monitoring.PrometheusRule](render(t, least)))
}
