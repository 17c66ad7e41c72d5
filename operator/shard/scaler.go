package shard

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/child"
	"visavis.dev/operator/pods"
	"visavis.dev/operator/resource"
	"visavis.dev/operator/scale"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/pershard"
)

// measureEvery is how often shards are measured.
const measureEvery = 15 * time.Second

// external is the setting by which the number of pods is somebody else's business.
const external = "External"

// Scaler measures what the shards have to do and sets how many pods they have.
type Scaler struct {
	Rules *Rules
	Log   *slog.Logger
	// Wake is told of a Shard whose status says another number of organizations than
	// live there; nil tells nobody.
	Wake chan event.GenericEvent

	figures figures
	mu      sync.Mutex
	calm    map[string]*calm
	// urls are where the shards' databases are, as the directory had them last.
	urls map[string]string
}

// calm is what is remembered of a shard.
type calm struct{ workers, portals scale.Calmness }

type figures struct{ age, sessions, desired *prometheus.GaugeVec }

// NewScaler registers the figures, which an autoscaler may read.
func NewScaler(r *Rules, log *slog.Logger, registry prometheus.Registerer) *Scaler {
	s := &Scaler{Rules: r, Log: log, calm: map[string]*calm{}, figures: figures{
		age: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "visavis_operator_backlog_age_seconds", Help: "How long the oldest delivery or job of a shard that is due has waited.",
		}, []string{"shard"}),
		sessions: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "visavis_operator_live_sessions", Help: "Conversations of a shard that a portal holds.",
		}, []string{"shard"}),
		desired: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "visavis_operator_desired_replicas", Help: "How many pods of a shard's role there should be.",
		}, []string{"shard", "role"}),
	}}
	registry.MustRegister(s.figures.age, s.figures.sessions, s.figures.desired)
	return s
}

// Start measures until the context ends.
func (s *Scaler) Start(ctx context.Context) error {
	ticker := s.Rules.Clock.NewTicker(measureEvery)
	defer ticker.Stop()
	for {
		if err := s.Round(ctx); err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "the shards are not measured", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// Round measures every shard once.
func (s *Scaler) Round(ctx context.Context) error {
	var shards v1alpha1.ShardList
	if err := s.Rules.Client.List(ctx, &shards); err != nil {
		return err
	}
	urls, err := s.addresses(ctx)
	if err != nil {
		return err
	}
	measured := map[string]*v1alpha1.Shard{}
	for i := range shards.Items {
		shard := &shards.Items[i]
		if urls[shard.Name] != "" && !resource.Released(shard) {
			measured[shard.Name] = shard
		}
	}
	// All at once: one that does not answer keeps no other waiting.
	for _, a := range pershard.Gather(ctx, slices.Sorted(maps.Keys(measured)), answerWithin, func(ctx context.Context, name string) (none struct{}, err error) {
		return none, s.one(ctx, measured[name], urls[name])
	}) {
		if a.Err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "failed to measure a shard", "shard", a.Shard, "error", a.Err)
		}
	}
	s.forget(measured)
	return nil
}

// addresses are where the shards' databases are. While the directory does not answer, what
// it said last is in force.
func (s *Scaler) addresses(ctx context.Context) (map[string]string, error) {
	asking, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	entries, err := s.Rules.Directory.Shards(asking)
	if err != nil {
		if s.urls != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "failed to list the shards; the last known list stays in force", "error", err)
			return s.urls, nil
		}
		return nil, err
	}
	s.urls = map[string]string{}
	for _, e := range entries {
		s.urls[e.Name] = e.URL
	}
	return s.urls, nil
}

// forget drops the figures of shards that are gone.
func (s *Scaler) forget(but map[string]*v1alpha1.Shard) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.calm {
		if but[name] == nil {
			delete(s.calm, name)
			s.figures.age.DeleteLabelValues(name)
			s.figures.sessions.DeleteLabelValues(name)
			s.figures.desired.DeletePartialMatch(prometheus.Labels{"shard": name})
		}
	}
}

func (s *Scaler) of(shard string) *calm {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calm[shard] == nil {
		s.calm[shard] = &calm{}
	}
	return s.calm[shard]
}

// one measures a shard and scales what serves it.
func (s *Scaler) one(ctx context.Context, shard *v1alpha1.Shard, url string) error {
	c, now := s.of(shard.Name), s.Rules.Clock.Now()
	age, sessions, err := s.measure(ctx, shard.Name, url, now)
	if err != nil {
		*c = calm{} // nobody knows how calm it is
		s.figures.age.DeleteLabelValues(shard.Name)
		s.figures.sessions.DeleteLabelValues(shard.Name)
		return err
	}
	s.figures.age.WithLabelValues(shard.Name).Set(age.Seconds())
	s.figures.sessions.WithLabelValues(shard.Name).Set(float64(sessions))
	w, p := shard.Spec.Workers, shard.Spec.Portals
	if err := s.scale(ctx, shard, pods.Worker, w.Scaling, func(current int32) int32 {
		return scale.Workers(bounds(w.Replicas), current, age, time.Duration(w.TargetBacklogSeconds)*time.Second, now, &c.workers)
	}); err != nil {
		return err
	}
	if err := s.scale(ctx, shard, pods.Portal, p.Scaling, func(current int32) int32 {
		return scale.Portals(bounds(p.Replicas), current, sessions, int64(p.SessionsPerPod), now, &c.portals)
	}); err != nil {
		return err
	}
	return s.count(ctx, shard) // last: the directory may not answer
}

func bounds(r v1alpha1.Replicas) scale.Bounds {
	return scale.Bounds{Min: r.MinReplicas, Max: r.MaxReplicas, Calm: time.Duration(r.ScaleDownSeconds) * time.Second}
}

// measure asks a shard's database how long what is due for its workers has waited, and
// how many conversations are live. Documents that are to be read wait for readers, which
// are not the shard's.
func (s *Scaler) measure(ctx context.Context, name, url string, now time.Time) (age time.Duration, sessions int64, err error) {
	db, err := s.Rules.databases.open(name, url)
	if err != nil {
		return 0, 0, err
	}
	oldest, err := delivery.Oldest(ctx, db, now)
	if err != nil {
		return 0, 0, err
	}
	due, err := job.Oldest(ctx, db, job.Rest, now)
	if err != nil {
		return 0, 0, err
	}
	if oldest.IsZero() || !due.IsZero() && due.Before(oldest) {
		oldest = due
	}
	if !oldest.IsZero() {
		age = max(now.Sub(oldest), 0)
	}
	sessions, err = session.CountLive(ctx, db)
	return age, sessions, err
}

// count has a Shard looked at whose status says another number of organizations.
func (s *Scaler) count(ctx context.Context, shard *v1alpha1.Shard) error {
	n, err := s.Rules.Directory.Inhabitants(ctx, shard.Name)
	if err != nil || n == shard.Status.Organisations {
		return err
	}
	select {
	case s.Wake <- event.GenericEvent{Object: shard}:
	default: // the next round says it again
	}
	return nil
}

// scale sets how many pods a role has, where that changes.
func (s *Scaler) scale(ctx context.Context, shard *v1alpha1.Shard, role, scaling string, next func(current int32) int32) error {
	var d appsv1.Deployment
	err := s.Rules.Client.Get(ctx, client.ObjectKey{Namespace: s.Rules.Namespace, Name: shard.Name + "-" + role}, &d)
	if err != nil {
		return client.IgnoreNotFound(err) // its database is being migrated
	}
	var current int32 = 1
	if d.Spec.Replicas != nil {
		current = *d.Spec.Replicas
	}
	want := next(current)
	s.figures.desired.WithLabelValues(shard.Name, role).Set(float64(want))
	if want == current || scaling == external {
		return nil
	}
	s.Log.InfoContext(ctx, "scaling", "deployment", d.Name, "from", current, "to", want)
	bare := d.DeepCopy()
	d.Spec.Replicas = &want
	return s.Rules.Client.Patch(ctx, &d, client.MergeFrom(bare), client.FieldOwner(child.Manager+"-scale"))
}
