package conversation

import "sync"

// sender is whose an item is.
type sender int

const (
	byOwner sender = iota
	byClient
	byStaff
	// byEar are what the server heard, and passing those of them that others follow.
	byEar
	passing
	senders
)

// most is how many items of each may wait to be handled: of the client's, which are dropped
// beyond it, and team members'; of the ear's, whose passing ones leave place for the others; and of the owner's,
// which are bounded by its own limits long before.
var most = [senders]int{byOwner: 1024, byClient: 64, byStaff: 64, byEar: 256, passing: 64}

// mailbox carries what happens outside to the goroutine that owns the state.
type mailbox struct {
	wake chan struct{}

	mu    sync.Mutex
	items []item
	count [senders]int // of the items
	// spilled says that something of the client's was dropped since the last take.
	spilled bool
	closed  bool
}

type item struct {
	do func()
	by sender
}

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

// put adds an item; false says that it was dropped.
func (m *mailbox) put(i item) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	if m.count[i.by] >= most[i.by] {
		if i.by == byClient {
			m.spilled = true
			m.ring()
		}
		return false
	}
	m.count[i.by]++
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
	m.count[i.by]--
	if len(m.items) > 0 {
		m.ring()
	}
	return i, true, spilled
}

// waiting is how many items there are.
func (m *mailbox) waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.items)
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
