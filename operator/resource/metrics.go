package resource

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"visavis.dev/operator/apis/v1alpha1"
)

// Metrics are the figures of all kinds.
type Metrics struct {
	readiness   *prometheus.GaugeVec
	transitions *prometheus.CounterVec
}

// NewMetrics registers the figures.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		readiness: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "visavis_operator_resource_ready", Help: "Whether a resource is as its spec has it: 1 or 0.",
		}, []string{"kind", "namespace", "name"}),
		transitions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "visavis_operator_transitions_total", Help: "Conditions of resources that came to another status or reason.",
		}, []string{"kind", "type", "status", "reason"}),
	}
	r.MustRegister(m.readiness, m.transitions)
	return m
}

func (m *Metrics) ready(kind string, o Object) {
	value := 0.0
	if meta.IsStatusConditionTrue(o.State().Conditions, v1alpha1.Ready) {
		value = 1
	}
	m.readiness.WithLabelValues(kind, o.GetNamespace(), o.GetName()).Set(value)
}

func (m *Metrics) forget(kind string, o types.NamespacedName) {
	m.readiness.DeleteLabelValues(kind, o.Namespace, o.Name)
}

func (m *Metrics) transition(kind string, c metav1.Condition) {
	m.transitions.WithLabelValues(kind, c.Type, string(c.Status), c.Reason).Inc()
}
