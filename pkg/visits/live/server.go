package live

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/pershard"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/rtc"
)

// Path is where the sockets are; the session's id follows.
const Path = "/live/v1/"

// Options are what a server works with.
type Options struct {
	Tenants *tenant.Tenants
	// Shards lists the shards; it is asked again now and then.
	Shards func(context.Context) ([]string, error)
	// Organization finds an organization and its terms.
	Organization func(context.Context, id.Org) (directory.Organization, plan.Terms, error)
	// Persona is a version of a persona, and its name.
	Persona func(ctx context.Context, org id.Org, p id.Persona, version int64) (string, persona.Definition, error)
	// Voice is what a session is said aloud with, by its voice; nil where nothing speaks.
	Voice func(context.Context, id.Org, id.Voice) (Voice, error)
	// Recognition is what writes down what visitors of an organization say; nil where
	// nothing does.
	Recognition func(context.Context, id.Org) (Recognition, error)
	// Files are where what is recorded of sessions is kept; nil where none is recorded.
	Files *file.Store
	// Minds are what conversations think with.
	Minds conversation.Minds
	// Gap records a question that the packs do not answer, and answers the
	// events that are to be emitted.
	Gap func(ctx context.Context, tx *tenant.Tx, q Question) error
	// Recall is what the persona of a session remembers of its person.
	Recall func(ctx context.Context, org id.Org, s session.Session) ([]string, error)
	// Notice is the address of the privacy notice that the users of a session are shown; empty for
	// none. It may be nil.
	Notice func(ctx context.Context, org id.Org, s session.Session) (string, error)
	// Media opens the connection to a server in whose rooms sessions take place; nil where
	// none do. MediaOutcome is told what came of calls of it, and Egress makes them.
	Media        func(context.Context, id.Org, id.Connection) (connection.Opened, error)
	MediaOutcome func(id.Org, id.Connection, connection.Outcome)
	Egress       *egress.Guard
	// Rendering is what renders the face of a session in the room of a media server; nil where all are drawn.
	Rendering func(context.Context, id.Org, session.Session) (Rendering, error)
	// Freshen reads the calendar of a schedule anew before one of its times is booked; nil where none is read.
	Freshen func(context.Context, id.Org, id.Schedule)
	// RTC is where browsers connect over WebRTC; nil where none do. It is closed by who made
	// it, once the server has stopped.
	RTC *rtc.Server
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

	// tls is both ends' of a connection to another process.
	tls *tls.Config

	mu       sync.Mutex
	rooms    map[id.Session]*room
	draining bool
	leases   *leases

	loops  []*pershard.Loop
	cancel context.CancelFunc
	group  sync.WaitGroup
	gauge  prometheus.Gauge
}

// New makes a server. Start it before its first socket.
func New(o Options) *Server {
	s := &Server{Options: o, tls: relayTLS(o.Secret), leases: newLeases(), rooms: map[id.Session]*room{}}
	s.gauge = prometheus.NewGauge(prometheus.GaugeOpts{Name: "visavis_live_sessions", Help: "Conversations that this process runs."})
	if o.Metrics != nil {
		o.Metrics.MustRegister(s.gauge)
	}
	return s
}

const (
	// lookForOrders is how often a process looks for what it is asked to do.
	lookForOrders = 100 * time.Millisecond
	// lookWithin bounds a look at a shard, and joinShardsWithin how long a process waits
	// at its start for shards that do not answer.
	lookWithin       = 10 * time.Second
	joinShardsWithin = 2 * time.Second
	// renewWithin bounds a renewal. It leaves a slow database the time it needs, and
	// after a connection that broke unnoticed there is time for another within the lease.
	renewWithin = session.PodLease - session.Beat - time.Second
	// leaveWithin bounds the giving up of the leases at the end.
	leaveWithin = 2 * time.Second
)

// Start begins to say that the process lives and to carry out what is asked.
func (s *Server) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.joinShards(ctx)
	s.loop("renew the lease on conversations", session.Beat, renewWithin, s.renewLeases)
	s.loop("take orders for conversations", lookForOrders, lookWithin, s.takeOrders)
	if s.Media != nil {
		s.loop("claim rooms", lookForRooms, lookWithin, func(looking context.Context, shard string) error {
			return s.takeRooms(looking, ctx, shard)
		})
	}
}

// loop begins to do something for each shard.
func (s *Server) loop(work string, every, within time.Duration, fn func(ctx context.Context, shard string) error) {
	l := pershard.New(pershard.Options{
		Work: work, Shards: s.Shards, Every: every, Timeout: within, Clock: s.Clock, Log: s.Log, Metrics: s.Metrics,
		Run: func(ctx context.Context, shard string) (next pershard.Next, err error) { return next, fn(ctx, shard) },
	})
	s.loops = append(s.loops, l)
	l.Start()
}

// joinShards takes the first leases, so that a process is known before its first socket
// wherever its shard answers.
func (s *Server) joinShards(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, joinShardsWithin)
	defer cancel()
	names, err := s.Shards(ctx)
	if err != nil {
		s.Log.WarnContext(ctx, "failed to list the shards at the start", "error", err)
		return
	}
	for _, a := range pershard.Gather(ctx, names, joinShardsWithin, func(ctx context.Context, shard string) (none struct{}, err error) {
		return none, s.renewLeases(ctx, shard)
	}) {
		if a.Err != nil {
			s.Log.WarnContext(ctx, "failed to take the lease on conversations at the start", "shard", a.Shard, "error", a.Err)
		}
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
	for _, l := range s.loops {
		group.Go(l.Stop)
	}
	group.Wait()
	s.group.Wait()
	pershard.Gather(context.Background(), s.leases.shards(), leaveWithin, func(ctx context.Context, shard string) (none struct{}, err error) {
		for _, pod := range s.leases.held(shard) {
			if err := session.DropPod(ctx, s.Tenants, shard, pod); err != nil {
				s.Log.WarnContext(ctx, "failed to drop the lease on conversations; it runs out", "shard", shard, "error", err)
			}
		}
		return none, nil
	})
}

// renewLeases says on a shard that the process lives.
func (s *Server) renewLeases(ctx context.Context, shard string) error {
	wanted := s.leases.wanted(shard, s.owners())
	s.leases.retain(shard, wanted)
	for _, pod := range wanted {
		alive, err := session.KeepPod(ctx, s.Tenants, shard, pod, s.Address, !s.leases.holds(shard, pod))
		switch {
		case err != nil:
			return err
		case alive:
			s.leases.taken(shard, pod)
		default:
			s.lose(ctx, shard, pod)
			return s.renewLeases(ctx, shard) // under another id
		}
	}
	return nil
}

// lose closes the rooms of a shard whose lease ran out: their sessions are others' by
// now. There the process goes on under another id; elsewhere nothing changes.
func (s *Server) lose(ctx context.Context, shard string, pod uuid.UUID) {
	s.Log.WarnContext(ctx, "lost the lease on conversations; those of the shard go on elsewhere", "shard", shard)
	s.leases.lost(shard, pod)
	s.mu.Lock()
	rooms := s.all()
	s.mu.Unlock()
	for _, r := range rooms {
		if home, err := s.Tenants.ShardOf(ctx, r.org); r.session.Owner.UUID == pod && (err != nil || home == shard) {
			s.group.Go(func() { r.do(r.lost) })
		}
	}
}

// owners are the ids under which the process runs sessions.
func (s *Server) owners() map[uuid.UUID]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	owners := map[uuid.UUID]bool{}
	for _, r := range s.rooms {
		owners[r.session.Owner.UUID] = true
	}
	return owners
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

// takeOrders hands what this process is asked to do on a shard to the rooms.
func (s *Server) takeOrders(ctx context.Context, shard string) error {
	for _, pod := range s.leases.held(shard) {
		orders, err := session.Orders(ctx, s.Tenants, shard, pod)
		if err != nil {
			return err
		}
		for _, o := range orders {
			if r := s.room(o.Session); r != nil {
				r.ask(func() { r.order(o.Command) })
			} else if o.Command.Kind == session.Over {
				s.forget(ctx, o)
			}
		}
	}
	return nil
}

// forget drops the news of an end that nobody here waits for.
func (s *Server) forget(ctx context.Context, o session.Ordered) {
	if err := session.CarriedOut(ctx, s.Tenants, o.Org, o.Session, o.Command.ID); err != nil {
		s.Log.WarnContext(ctx, "an order stays listed", "session", o.Session.String(), "error", err)
	}
}

var _ http.Handler = (*Server)(nil)
