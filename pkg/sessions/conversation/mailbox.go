package conversation

import "sync"

// How much may wait to be handled: of the client's, which is dropped beyond it,
// and of the owner's, which is bounded by its own limits long before.
const (
	maxFromClient = 64
	maxFromOwner  = 1024
)

// mailbox carries what happens outside to the goroutine that owns the state.
type mailbox struct {
	wake chan struct{}

	mu     sync.Mutex
	items  []item
	client int // how many of the items are the client's
	// spilled says that something of the client's was dropped since the last take.
	spilled bool
	closed  bool
}

type item struct {
	do         func()
	fromClient bool
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

// put adds an item; false says that it was dropped.
func (m *mailbox) put(i item) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return false
	case i.fromClient && m.client >= maxFromClient:
		m.spilled = true
		m.ring()
		return false
	case !i.fromClient && len(m.items)-m.client >= maxFromOwner:
		return false
	}
	if i.fromClient {
		m.client++
	}
	m.items = append(m.items, i)
	m.ring()
	return true
}

// take removes the oldest item, if there is one, and tells whether something of
// the client's was dropped before.
func (m *mailbox) take() (i item, ok, spilled bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	spilled, m.spilled = m.spilled, false
	if len(m.items) == 0 {
		return item{}, false, spilled
	}
	i, m.items[0] = m.items[0], item{}
	m.items = m.items[1:]
	if i.fromClient {
		m.client--
	}
	if len(m.items) > 0 {
		m.ring()
	}
	return i, true, spilled
}

func (m *mailbox) ring() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.items = true, nil
}
