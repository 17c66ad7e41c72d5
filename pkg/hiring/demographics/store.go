package demographics

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/store/tenant"
)

// Store keeps answers until they are counted.
type Store struct {
	Tenants *tenant.Tenants
	// Vault seals answers, and what their ids are made with.
	Vault *vault.Vault
}

// candidateNoun is what errors call a candidate (package candidate's, which imports this one).
const candidateNoun errdefs.Noun = "candidate"

// ReasonNotAsked is the reason of a conflict: the candidate is not asked, or is counted already.
const ReasonNotAsked = "not_asked"

// standing is what is looked at of a candidate.
type standing struct {
	Role      id.Role
	Screened  bool
	Withdrawn bool
	// Session is that of their last interview; zero for none.
	Session id.Session
}

const selectStanding = `
	SELECT c.role_id, c.screened_at IS NOT NULL, c.state IN ('withdrawn', 'erased') OR COALESCE(c.decision->>'value' = 'withdrawn', false), s.session_id
	FROM candidate c LEFT JOIN screening s ON s.org_id = c.org_id AND s.id = c.screening_id WHERE c.org_id = $1 AND c.id = $2`

func scanStanding(row pgx.CollectableRow) (standing, error) {
	return pgx.RowToStructByPos[standing](row)
}

// may says whether somebody who held an interview is the candidate, whose interview is over: whoever has
// their link alone is not.
func (s standing) may(held id.Session) bool {
	return s.Screened && !s.Withdrawn && !held.IsZero() && s.Session == held
}

// secretPlace and answerPlace are what is sealed for.
func secretPlace(org id.Org, r id.Role) string {
	return "demographic role " + org.String() + " " + r.String()
}

func answerPlace(org id.Org, answer uuid.UUID) string {
	return "demographic answer " + org.String() + " " + answer.String()
}

// secret finds what the ids of a role's answers are made with, or makes it. Whoever has it holds
// the role's answers until the commit. It rides demographic_role_pkey.
func (s *Store) secret(ctx context.Context, tx *tenant.Tx, r id.Role) ([]byte, error) {
	tx.Touch("demographic_role", r)
	if _, err := tx.Exec(ctx, `INSERT INTO demographic_role (org_id, role_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, tx.Org, r); err != nil {
		return nil, err
	}
	var sealed []byte
	if err := tx.QueryRow(ctx, selectSecret+` FOR UPDATE`, tx.Org, r).Scan(&sealed); err != nil {
		return nil, err
	}
	if sealed != nil {
		return s.Vault.Open(secretPlace(tx.Org, r), sealed)
	}
	made := vault.NewKey()
	_, err := tx.Exec(ctx, `UPDATE demographic_role SET secret = $3 WHERE org_id = $1 AND role_id = $2`, tx.Org, r, s.Vault.Seal(secretPlace(tx.Org, r), made))
	return made, err
}

const selectSecret = `SELECT secret FROM demographic_role WHERE org_id = $1 AND role_id = $2`

// answerID is where a candidate's answer lies.
func answerID(secret []byte, c id.Candidate) (at uuid.UUID) {
	h := hmac.New(sha256.New, secret)
	h.Write(c[:])
	copy(at[:], h.Sum(nil))
	return at
}

// Bytes of what is sealed: whether it was counted, the sex and the race.
const (
	waits   = 0
	counted = 1
	length  = 3
)

func (a Answer) bytes() []byte {
	return []byte{waits, byte(slices.Index(Sexes(), a.Sex)), byte(slices.Index(Races(), a.Race))}
}

// errSealed says that what was sealed is no answer.
var errSealed = errors.New("what was sealed is no answer")

// open reads an answer; done says that it was counted, and is deleted.
func (s *Store) open(org id.Org, at uuid.UUID, sealed []byte) (a Answer, done bool, err error) {
	b, err := s.Vault.Open(answerPlace(org, at), sealed)
	if err != nil {
		return a, false, err
	}
	if len(b) != length || int(b[1]) >= len(Sexes()) || int(b[2]) >= len(Races()) {
		return a, false, errSealed
	}
	return Answer{Sexes()[b[1]], Races()[b[2]]}, b[0] == counted, nil
}

const selectAnswer = `SELECT sealed FROM demographic_answer WHERE org_id = $1 AND id = $2`

// Put keeps what a candidate says of themselves in place of what they said before, who held the
// interview that a session is; of who says nothing any more nothing is kept, also where the role does not
// ask any more. The error is errdefs.NotFound, an errdefs.Invalid, or a conflict (not_asked). It rides
// candidate_pkey, screening_pkey and demographic_answer_pkey.
//
// No row of the candidate is locked: that would note the transaction in it, which the answer names too.
// Erasures wait for the role's answers instead (see Forget).
func (s *Store) Put(ctx context.Context, tx *tenant.Tx, which id.Candidate, held id.Session, a Answer) error {
	if err := a.Check(); err != nil {
		return err
	}
	no := &errdefs.Conflict{Noun: candidateNoun, ID: which.String(), Reason: ReasonNotAsked, Message: "The candidate is not asked, or was counted already."}
	c, err := tenant.OneIn(ctx, tx, scanStanding, candidateNoun.NotFound(which), selectStanding, tx.Org, which)
	if err != nil {
		return err
	}
	r, err := role.Find(ctx, tx, c.Role)
	if err != nil {
		return err
	}
	if !c.may(held) || !r.Demographics && a != unknown {
		return no
	}
	secret, err := s.secret(ctx, tx, c.Role)
	if err != nil {
		return err
	}
	c, err = tenant.OneIn(ctx, tx, scanStanding, candidateNoun.NotFound(which), selectStanding, tx.Org, which)
	if err == nil && !c.may(held) {
		err = no // they were erased meanwhile
	}
	if err != nil {
		return err
	}
	at := answerID(secret, which)
	before, err := tenant.AllIn(ctx, tx, pgx.RowTo[[]byte], selectAnswer, tx.Org, at)
	if err != nil {
		return err
	}
	for _, sealed := range before {
		if _, done, err := s.open(tx.Org, at, sealed); err != nil || done {
			return errors.Join(err, no)
		}
	}
	if a == unknown {
		return remove(ctx, tx, at)
	}
	return s.write(ctx, tx, []uuid.UUID{at}, a.bytes())
}

// write keeps the same for several answers.
func (s *Store) write(ctx context.Context, tx *tenant.Tx, which []uuid.UUID, what []byte) error {
	sealed := make([][]byte, len(which))
	for i, at := range which {
		tx.Touch("demographic_answer", at)
		sealed[i] = s.Vault.Seal(answerPlace(tx.Org, at), what)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO demographic_answer (org_id, id, sealed) SELECT $1, a.id, a.sealed FROM unnest($2::UUID[], $3::BYTEA[]) AS a (id, sealed)
		ON CONFLICT (org_id, id) DO UPDATE SET sealed = excluded.sealed`, tx.Org, which, sealed)
	return err
}

func remove(ctx context.Context, tx *tenant.Tx, which ...uuid.UUID) error {
	for _, at := range which {
		tx.Touch("demographic_answer", at)
	}
	_, err := tx.Exec(ctx, `DELETE FROM demographic_answer WHERE org_id = $1 AND id = ANY($2)`, tx.Org, which)
	return err
}

// Forget deletes all that is kept of a candidate who is erased, and waits for who puts something
// meanwhile. What they were counted in stays: it is of nobody any more. It rides candidate_pkey,
// demographic_role_pkey and demographic_answer_pkey.
func (s *Store) Forget(ctx context.Context, tx *tenant.Tx, which id.Candidate) error {
	c, err := tenant.OneIn(ctx, tx, scanStanding, candidateNoun.NotFound(which), selectStanding, tx.Org, which)
	if err != nil {
		return err
	}
	secret, err := s.secret(ctx, tx, c.Role)
	if err != nil {
		return err
	}
	return remove(ctx, tx, answerID(secret, which))
}

// TakeBack deletes what a candidate who withdraws said of themselves; that they were counted stays.
// It rides the same indexes as Forget.
func (s *Store) TakeBack(ctx context.Context, tx *tenant.Tx, which id.Candidate) error {
	at, sealed, err := s.kept(ctx, tx, which)
	if err != nil || sealed == nil {
		return err
	}
	if _, done, err := s.open(tx.Org, at, sealed); err != nil || done {
		return err
	}
	return remove(ctx, tx, at)
}

// kept is where a candidate's answer would lie, and what lies there; zero and nil for nothing. It
// holds the role's answers, where there are any.
func (s *Store) kept(ctx context.Context, tx *tenant.Tx, which id.Candidate) (at uuid.UUID, sealed []byte, err error) {
	c, err := tenant.OneIn(ctx, tx, scanStanding, candidateNoun.NotFound(which), selectStanding, tx.Org, which)
	if err != nil {
		return at, nil, err
	}
	secrets, err := tenant.AllIn(ctx, tx, pgx.RowTo[[]byte], selectSecret+` FOR UPDATE`, tx.Org, c.Role)
	if err != nil || len(secrets) == 0 || secrets[0] == nil {
		return at, nil, err // nobody of the role said anything
	}
	secret, err := s.Vault.Open(secretPlace(tx.Org, c.Role), secrets[0])
	if err != nil {
		return at, nil, err
	}
	at = answerID(secret, which)
	found, err := tenant.AllIn(ctx, tx, pgx.RowTo[[]byte], selectAnswer, tx.Org, at)
	if len(found) > 0 {
		sealed = found[0]
	}
	return at, sealed, err
}

// Offers says whether who held the interview that a session is can say something of themselves, or take it
// back: where the role asks, or they have said something, and they are not counted. Whether they have said
// something is told nobody where the role asks. It rides candidate_pkey, screening_pkey,
// demographic_role_pkey and demographic_answer_pkey.
func (s *Store) Offers(ctx context.Context, org id.Org, r *role.Role, which id.Candidate, held id.Session) (bool, error) {
	c, err := tenant.One(ctx, s.Tenants, org, scanStanding, candidateNoun.NotFound(which), selectStanding, org, which)
	if err != nil || !c.may(held) {
		return false, err
	}
	sealed, err := tenant.All(ctx, s.Tenants, org, pgx.RowTo[[]byte], selectSecret, org, r.ID)
	if err != nil || len(sealed) == 0 || sealed[0] == nil {
		return r.Demographics && err == nil, err
	}
	secret, err := s.Vault.Open(secretPlace(org, r.ID), sealed[0])
	if err != nil {
		return false, err
	}
	at := answerID(secret, which)
	kept, err := tenant.All(ctx, s.Tenants, org, pgx.RowTo[[]byte], selectAnswer, org, at)
	if err != nil || len(kept) == 0 {
		return r.Demographics && err == nil, err
	}
	_, done, err := s.open(org, at, kept[0])
	return !done && err == nil, err
}
