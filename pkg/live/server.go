package live

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/connection"
	"visavis.dev/pkg/conversation"
	"visavis.dev/pkg/directory"
	"visavis.dev/pkg/egress"
	"visavis.dev/pkg/event"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/persona"
	"visavis.dev/pkg/plan"
	"visavis.dev/pkg/session"
	"visavis.dev/pkg/tenant"
)

// Path is where the sockets are; the session's id follows.
const Path = "/live/v1/"

// Options are what a server works with.
type Options struct {
	Tenants *tenant.Tenants
	// Shards lists the shards; it is asked again now and then.
	Shards func(context.Context) ([]string, error)
	// Organization finds an organisation and its terms.
	Organization func(context.Context, id.Org) (directory.Organization, plan.Terms, error)
	// Persona is a version of a persona, and its name.
	Persona func(ctx context.Context, org id.Org, p id.Persona, version int64) (string, persona.Definition, error)
	// Minds are what conversations think with.
	Minds conversation.Minds
	// Gap records a question that the packs do not answer, and answers the
	// events that are to be emitted.
	Gap func(ctx context.Context, tx *tenant.Tx, q Question) ([]event.Draft, error)
	// Recall is what the persona of a session remembers of its person.
	Recall func(ctx context.Context, org id.Org, s session.Session) ([]string, error)
	// Media opens the connection to a server in whose rooms sessions take place; nil where
	// none do. MediaOutcome is told what came of calls of it, and Egress makes them.
	Media        func(context.Context, id.Org, id.Connection) (connection.Opened, error)
	MediaOutcome func(id.Org, id.Connection, connection.Outcome)
	Egress       *egress.Guard
	// Address is where other processes reach this one's sockets: host:port.
	Address string
	// Secret is what all processes share, by which they know each other's sockets.
	Secret []byte
	// PublicURL is the address callers reach the API at.
	PublicURL string
	Clock     clock.WithTickerAndDelayedExecution
	Log       *slog.Logger
	Metrics   prometheus.Registerer
}

// Question is one that could not be answered.
type Question struct {
	Session  session.Session
	Bases    []id.KnowledgeBase
	Text     string
	Language string
	At       time.Time
}

// Server runs live conversations.
type Server struct {
	Options

	// pod is this process to the others. One that lost its sessions goes on
	// under another id.
	mu       sync.Mutex
	pod      uuid.UUID
	rooms    map[id.Session]*room
	draining bool
	// joined are the shards where the process is listed.
	joined map[string]bool

	// shards are those there are; the goroutine that beats owns them.
	shards []string

	cancel context.CancelFunc
	group  sync.WaitGroup
	gauge  prometheus.Gauge
}

// New makes a server. Start it before its first socket.
func New(o Options) *Server {
	s := &Server{Options: o, pod: uuid.New(), rooms: map[id.Session]*room{}, joined: map[string]bool{}}
	s.gauge = prometheus.NewGauge(prometheus.GaugeOpts{Name: "visavis_live_sessions", Help: "Conversations that this process runs."})
	if o.Metrics != nil {
		o.Metrics.MustRegister(s.gauge)
	}
	return s
}

// Start begins to say that the process lives and to carry out what is asked.
func (s *Server) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.beat(ctx)
	s.group.Go(func() { s.every(ctx, session.Beat, s.beat) })
	s.group.Go(func() { s.every(ctx, lookForOrders, s.takeOrders) })
	if s.Media != nil {
		s.group.Go(func() { s.every(ctx, lookForRooms, s.takeRooms) })
	}
}

// Stop gives the sessions back, so that their clients can go on elsewhere, and
// ends what Start began.
func (s *Server) Stop() {
	s.mu.Lock()
	s.draining = true
	rooms := s.all()
	s.mu.Unlock()
	var group sync.WaitGroup
	for _, r := range rooms {
		group.Go(r.release)
	}
	group.Wait()
	s.cancel()
	s.group.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, shard := range s.shards {
		if err := session.DropPod(ctx, s.Tenants, shard, s.pod); err != nil {
			s.Log.WarnContext(ctx, "the process stays listed until its lease ends", "shard", shard, "error", err)
		}
	}
}

// lookForOrders is how often a process looks for what it is asked to do.
const lookForOrders = 100 * time.Millisecond

// every runs fn at an interval until the context ends.
func (s *Server) every(ctx context.Context, interval time.Duration, fn func(context.Context)) {
	ticker := s.Clock.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C():
			fn(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// beat says on every shard that the process lives.
func (s *Server) beat(ctx context.Context) {
	if names, err := s.Shards(ctx); err == nil {
		s.shards = names
	}
	for _, shard := range s.shards {
		alive, err := session.KeepPod(ctx, s.Tenants, shard, s.id(), s.Address, !s.in(shard))
		switch {
		case err != nil:
			s.Log.WarnContext(ctx, "cannot say that this process lives", "shard", shard, "error", err)
		case !alive:
			s.lose(ctx)
			return
		default:
			s.mu.Lock()
			s.joined[shard] = true
			s.mu.Unlock()
		}
	}
}

func (s *Server) in(shard string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.joined[shard]
}

// lose closes every room: the sessions are others' by now. The process goes on
// under another id.
func (s *Server) lose(ctx context.Context) {
	s.Log.WarnContext(ctx, "this process was silent for too long; its conversations go on elsewhere")
	s.mu.Lock()
	s.pod = uuid.New()
	clear(s.joined)
	rooms := s.all()
	s.mu.Unlock()
	for _, r := range rooms {
		r.do(r.lost)
	}
}

func (s *Server) id() uuid.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pod
}

// all lists the rooms; the lock is held.
func (s *Server) all() []*room {
	rooms := make([]*room, 0, len(s.rooms))
	for _, r := range s.rooms {
		rooms = append(rooms, r)
	}
	return rooms
}

// Live is how many conversations the process runs.
func (s *Server) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rooms)
}

func (s *Server) room(which id.Session) *room {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rooms[which]
}

// enter lists a room, in the place of one that has lost the session to it; false
// when none may begin any more.
func (s *Server) enter(r *room) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return false
	}
	if before := s.rooms[r.session.ID]; before != nil {
		go before.do(before.lost)
	}
	s.rooms[r.session.ID] = r
	s.gauge.Set(float64(len(s.rooms)))
	return true
}

func (s *Server) leave(r *room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rooms[r.session.ID] == r {
		delete(s.rooms, r.session.ID)
	}
	s.gauge.Set(float64(len(s.rooms)))
}

// takeOrders hands what this process is asked to do to the rooms.
func (s *Server) takeOrders(ctx context.Context) {
	for _, shard := range s.listed() {
		orders, err := session.Orders(ctx, s.Tenants, shard, s.id())
		if err != nil {
			if ctx.Err() == nil {
				s.Log.WarnContext(ctx, "orders wait", "shard", shard, "error", err)
			}
			continue
		}
		for _, o := range orders {
			if r := s.room(o.Session); r != nil {
				r.do(func() { r.order(o.Command) })
			} else if o.Command.Kind == session.Over {
				s.forget(ctx, o)
			}
		}
	}
}

func (s *Server) listed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.joined))
	for name := range s.joined {
		names = append(names, name)
	}
	return names
}

// forget drops the news of an end that nobody here waits for.
func (s *Server) forget(ctx context.Context, o session.Ordered) {
	if err := session.CarriedOut(ctx, s.Tenants, o.Org, o.Session, o.Command.ID); err != nil {
		s.Log.WarnContext(ctx, "an order stays listed", "session", o.Session.String(), "error", err)
	}
}

var _ http.Handler = (*Server)(nil)
