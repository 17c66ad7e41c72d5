package egress

import (
	"context"
	"net/http"
)

// Beside is a guard for services that an operator runs beside this one, such as a model's
// server: it takes http:// too, but over it reaches nothing except the ranges of
// [Options.Allow]. Over https:// it is the same as the guard. Without such ranges it is
// the guard itself.
func (g *Guard) Beside() *Guard {
	if g.beside == nil {
		return g
	}
	return g.beside
}

// newBeside makes what Beside answers, nil where no ranges are allowed.
func newBeside(g *Guard, o Options) *Guard {
	if len(g.allow) == 0 {
		return nil
	}
	inside := *g
	inside.allowedOnly = true
	inside.lookups = newLookups(&inside, o.Remember)
	inside.transport = newTransport(&inside, o)

	beside := *g
	beside.inside = &inside
	shared := *g.transport
	shared.guard = &beside
	beside.transport = &shared
	return &beside
}

// of is the guard that judges what is reached by a scheme; nil where the scheme is not taken.
func (g *Guard) of(scheme string) *Guard {
	switch scheme {
	case "https":
		return g
	case "http":
		return g.inside
	}
	return nil
}

// pool makes the requests of a scheme that was checked.
func (t *transport) pool(scheme string) *http.Transport {
	if scheme == "http" {
		return t.guard.inside.transport.base
	}
	return t.base
}

// Listed says whether all addresses of a host are in the ranges that the operator lists.
func (g *Guard) Listed(ctx context.Context, host string) bool {
	if g.beside == nil || g.beside.inside == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	_, err := g.beside.inside.resolve(ctx, host)
	return err == nil
}
