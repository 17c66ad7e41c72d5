package endpoint

import "time"

// Behaviour is what an endpoint does with a request, after it has read and
// recorded it. The zero value answers 200 at once. What fails (a signature,
// FailFirst, FailEvery) is answered at once; Latency comes before all the rest,
// and of Hang, Reset, Trickle, CloseMidway and Endless the first that is set
// is done.
type Behaviour struct {
	// Status is what is answered, from 200 to 599; 0 is 200.
	Status int
	// RetryAfter and Location are headers of the answer, unless empty.
	RetryAfter, Location string
	// Latency is how long the answer is held back.
	Latency time.Duration

	// Hang never answers: it ends when the client goes away.
	Hang bool
	// Reset answers with a TCP reset.
	Reset bool
	// Trickle sends a header byte by byte, one per this long, that never ends.
	Trickle time.Duration
	// CloseMidway promises a longer body than it sends, and hangs up.
	CloseMidway bool
	// Endless sends a body that never ends.
	Endless bool
	// GiganticHeader answers with more than 1 MiB of header.
	GiganticHeader bool

	// FailFirst is how many requests of each event id are answered 500. They
	// are counted from the server's start, whatever the behaviour was then.
	FailFirst int
	// FailEvery answers every nth request 500.
	FailEvery int

	// Secret is what X-Service-Signature must be made with; a request that
	// cannot be verified is refused with 401. Without any secret nothing is
	// verified nor refused.
	Secret string
	// PreviousSecret is what X-Service-Signature-Previous must be made with,
	// when it is sent. Alone, without Secret, it makes the endpoint one that
	// has not moved to the new secret yet, and the header is required.
	PreviousSecret string
}

// fails reports whether a request is one of those to be answered 500.
func (b *Behaviour) fails(t turn) bool {
	return t.ofEvent <= b.FailFirst || b.FailEvery > 0 && t.ofPath%b.FailEvery == 0
}

// Set changes how a path behaves, from the next request on.
func (s *Server) Set(path string, b Behaviour) { s.hook(path).behaviour.Store(&b) }
