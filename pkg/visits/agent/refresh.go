package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/sweep"
)

const (
	// refreshEvery is how soon the list follows the portals.
	refreshEvery = 10 * time.Second
	// readAgainAfter is when an agent is read again that did not change: what it can be asked
	// about may have.
	readAgainAfter = 24 * time.Hour
	// refreshBatch is how many portals are compared at once.
	refreshBatch = 500
)

// Tasks are the recurring tasks of agents.
func (c *Catalogue) Tasks() []sweep.Task {
	return []sweep.Task{{Name: "list the portals that assistants may ask", Every: refreshEvery, Run: c.Refresh}}
}

// candidate is a portal that may be an agent, as its shard has it, or as the directory
// wrote it down at readAt.
type candidate struct {
	key
	slug          string
	page, persona int64
	readAt        time.Time
}

// selectCandidates rides setting_of_agents and the primary keys of org_fence, portal, portal_version and
// persona.
const selectCandidates = `
	SELECT p.org_id, p.id, p.slug, p.page_stamp, coalesce(a.version, 0)
	FROM setting s
	JOIN org_fence f ON f.org_id = s.org_id AND f.state IN ('open', 'capture', 'fenced')
	JOIN portal p ON p.org_id = s.org_id
	LEFT JOIN portal_version v ON v.org_id = p.org_id AND v.portal_id = p.id AND v.version = p.published_version
	LEFT JOIN persona a ON a.org_id = v.org_id AND a.id = v.persona_id
	WHERE s.key = 'agents.enabled' AND s.scope_kind = 'organization' AND s.scope_id = '' AND s.value = 'true' AND s.org_id >= $1
		AND p.state = 'published' AND (p.org_id, p.id) > ($1, $2)
	ORDER BY p.org_id, p.id LIMIT $3`

// selectWritten rides organization_by_shard and the primary key of agent.
const selectWritten = `
	SELECT a.org_id, a.portal_id, a.slug, a.page_stamp, a.persona_version, a.read_at
	FROM agent a JOIN organization o ON o.id = a.org_id
	WHERE o.shard = $1 AND (a.org_id, a.portal_id) > ($2, $3)
	ORDER BY a.org_id, a.portal_id LIMIT $4`

// Refresh makes the list follow the portals of a shard: it compares what the directory has
// with what is there, and reads what differs. It answers how many entries it wrote. What one
// portal's failure leaves undone the next run does; any number of processes may do it at once.
func (c *Catalogue) Refresh(ctx context.Context, shard string) (int, error) {
	db, err := c.Tenants.Shard(ctx, shard)
	if err != nil {
		return 0, err
	}
	var (
		all    int
		failed error
		after  key
	)
	for {
		there, err := candidates(ctx, db, selectCandidates, uuid.UUID(after.org), uuid.UUID(after.portal), refreshBatch)
		if err != nil {
			return all, errors.Join(failed, err)
		}
		written, err := c.written(ctx, shard, after)
		if err != nil {
			return all, errors.Join(failed, err)
		}
		until, more := common(there, written)
		n, err := c.follow(ctx, shard, upTo(there, until, more), upTo(written, until, more))
		all, failed = all+n, errors.Join(failed, err)
		if !more || ctx.Err() != nil {
			return all, failed
		}
		after = until
	}
}

func candidates(ctx context.Context, db *database.DB, sql string, args ...any) ([]candidate, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c candidate, err error) {
		return c, row.Scan(&c.org, &c.portal, &c.slug, &c.page, &c.persona)
	})
}

func (c *Catalogue) written(ctx context.Context, shard string, after key) ([]candidate, error) {
	rows, err := c.Directory.DB.Query(ctx, selectWritten, shard, uuid.UUID(after.org), uuid.UUID(after.portal), refreshBatch)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (c candidate, err error) {
		return c, row.Scan(&c.org, &c.portal, &c.slug, &c.page, &c.persona, &c.readAt)
	})
}

// common is the last portal that two pages both reach, where one of them is not the last.
func common(pages ...[]candidate) (until key, more bool) {
	for _, page := range pages {
		if len(page) < refreshBatch {
			continue
		}
		if last := page[len(page)-1].key; !more || last.compare(until) < 0 {
			until, more = last, true
		}
	}
	return until, more
}

// upTo leaves the portals of a page up to one, where bounded.
func upTo(page []candidate, until key, bounded bool) []candidate {
	if !bounded {
		return page
	}
	n, found := slices.BinarySearchFunc(page, until, func(c candidate, k key) int { return c.compare(k) })
	if found {
		n++
	}
	return page[:n]
}

// follow writes down what is there and not written so, and takes out what is not there.
func (c *Catalogue) follow(ctx context.Context, shard string, there, written []candidate) (done int, failed error) {
	old := make(map[key]candidate, len(written))
	for _, w := range written {
		old[w.key] = w
	}
	for _, now := range there {
		was, known := old[now.key]
		delete(old, now.key)
		if known && was.slug == now.slug && was.page == now.page && was.persona == now.persona && c.Clock.Since(was.readAt) < readAgainAfter {
			continue
		}
		is, err := c.read(ctx, now.key)
		if err == nil {
			err = c.write(ctx, shard, now, is)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		done++
	}
	for gone := range old {
		if err := c.forget(ctx, gone); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		done++
	}
	return done, failed
}
