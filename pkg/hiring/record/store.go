package record

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/store/tenant"
)

// Chain is where the record of a candidate ends. It is kept with the candidate, who is locked
// while entries are added.
type Chain struct {
	Candidate id.Candidate
	// Length is how many entries there are, and Head the hash of the last; empty before the first.
	Length int64
	Head   Hash
}

// Fact is an entry to be added.
type Fact struct {
	At            time.Time
	Actor, Action string
	// Data are what can be told for ever: ids, numbers, codes and times. Words are a person's;
	// empty for none.
	Data  map[string]any
	Words string
}

// number is an entry's, as part of a row's key.
type number int64

func (n number) String() string { return strconv.FormatInt(int64(n), 10) }

// Add adds an entry to the record of a candidate who is locked.
func Add(ctx context.Context, tx *tenant.Tx, c *Chain, f Fact) error {
	if f.Data == nil {
		f.Data = map[string]any{}
	}
	data, err := json.Marshal(f.Data)
	if err != nil {
		return err
	}
	if c.Length == 0 {
		c.Head = Genesis(c.Candidate)
	}
	e := Entry{Number: c.Length + 1, At: f.At.UTC().Truncate(time.Microsecond), Actor: f.Actor, Action: f.Action, Data: string(data), WordsHash: Hash{}, Previous: c.Head}
	if f.Words != "" {
		e.Words = newWords(f.Words)
		e.WordsHash = e.Words.sum()
	}
	e.Hash = e.sum()
	var b pgx.Batch
	e.queue(tx, &b, c.Candidate)
	c.Length, c.Head = e.Number, e.Hash
	return tx.SendBatch(ctx, &b).Close()
}

func (e *Entry) queue(tx *tenant.Tx, b *pgx.Batch, c id.Candidate) {
	tx.Touch("candidate_entry", c, number(e.Number))
	b.Queue(`
		INSERT INTO candidate_entry (org_id, candidate_id, number, at, actor, action, data, words_hash, previous, hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		tx.Org, c, e.Number, e.At, e.Actor, e.Action, e.Data, []byte(e.WordsHash), []byte(e.Previous), []byte(e.Hash))
	if e.Words == nil {
		return
	}
	tx.Touch("candidate_words", c, number(e.Number))
	b.Queue(`INSERT INTO candidate_words (org_id, candidate_id, number, salt, words) VALUES ($1, $2, $3, $4, $5)`,
		tx.Org, c, e.Number, []byte(e.Words.Salt), e.Words.Text)
}

// atOnce is how many entries of a record are read at once.
const atOnce = 1000

func scan(row pgx.CollectableRow) (e Entry, err error) {
	var salt []byte
	var text *string
	err = row.Scan(&e.Number, &e.At, &e.Actor, &e.Action, &e.Data, &e.WordsHash, &e.Previous, &e.Hash, &salt, &text)
	e.At = e.At.UTC()
	if text != nil {
		e.Words = &Words{Salt: salt, Text: *text}
	}
	return e, err
}

// Of reads the record of a candidate. It rides candidate_entry_pkey and candidate_words_pkey.
func Of(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Candidate) ([]Entry, error) {
	all := []Entry{}
	for {
		found, err := after(ctx, t, org, c, int64(len(all)))
		all = append(all, found...)
		if err != nil || len(found) < atOnce {
			return all, err
		}
	}
}

// after reads entries after one, by its number.
func after(ctx context.Context, t *tenant.Tenants, org id.Org, c id.Candidate, last int64) ([]Entry, error) {
	return tenant.All(ctx, t, org, scan, `
		SELECT e.number, e.at, e.actor, e.action, e.data, e.words_hash, e.previous, e.hash, w.salt, w.words
		FROM candidate_entry e LEFT JOIN candidate_words w ON w.org_id = e.org_id AND w.candidate_id = e.candidate_id AND w.number = e.number
		WHERE e.org_id = $1 AND e.candidate_id = $2 AND e.number > $3 ORDER BY e.number LIMIT $4`, org, c, last, atOnce)
}

// Forget erases the personal words beside a candidate's record, whose entries stay.
func Forget(ctx context.Context, tx *tenant.Tx, c id.Candidate) error {
	rows, err := tx.Query(ctx, `DELETE FROM candidate_words WHERE org_id = $1 AND candidate_id = $2 RETURNING number`, tx.Org, c)
	if err != nil {
		return err
	}
	return forgotten(tx, c, rows)
}

// ForgetOf is Forget of the words beside entries of one action.
func ForgetOf(ctx context.Context, tx *tenant.Tx, c id.Candidate, action string) error {
	rows, err := tx.Query(ctx, `
		DELETE FROM candidate_words WHERE org_id = $1 AND candidate_id = $2 AND number IN (
			SELECT number FROM candidate_entry WHERE org_id = $1 AND candidate_id = $2 AND action = $3)
		RETURNING number`, tx.Org, c, action)
	if err != nil {
		return err
	}
	return forgotten(tx, c, rows)
}

// forgotten says of words that they are deleted.
func forgotten(tx *tenant.Tx, c id.Candidate, rows pgx.Rows) error {
	var n int64
	_, err := pgx.ForEachRow(rows, []any{&n}, func() error {
		tx.Touch("candidate_words", c, number(n))
		return nil
	})
	return err
}
