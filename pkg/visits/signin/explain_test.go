package signin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/store/tenant/tenanttest"
	"visavis.dev/pkg/visits/signin"
)

// fill enters many of all that is looked up.
func (w *world) fill() {
	for _, sql := range []string{
		`INSERT INTO portal_visit (org_id, hash, portal_id, door, details, created_at, expires_at)
			SELECT $1, decode(md5(i::TEXT), 'hex'), $2, 'visitors', '{}', $3::TIMESTAMPTZ, $3::TIMESTAMPTZ + i * INTERVAL '1 hour' FROM generate_series(1, 5000) AS g (i)`,
		`INSERT INTO used_token (org_id, id, expires_at)
			SELECT $1, gen_random_uuid(), $3::TIMESTAMPTZ + i * INTERVAL '1 hour' FROM generate_series(1, 5000) AS g (i) WHERE $2::UUID IS NOT NULL`,
		`INSERT INTO signing_key (org_id, id, secret, created_at)
			SELECT $1, gen_random_uuid(), '', $3::TIMESTAMPTZ - i * INTERVAL '1 hour' FROM generate_series(1, 5000) AS g (i) WHERE $2::UUID IS NOT NULL`,
		`INSERT INTO escalation (org_id, id, portal_id, state, external_chat_id, channel, context, language, token_hash, expires_at, metadata, created_at)
			SELECT $1, gen_random_uuid(), CASE WHEN i % 2 = 0 THEN $2::UUID ELSE gen_random_uuid() END, CASE WHEN i < 10 THEN 'waiting' ELSE 'completed' END, '', 'chat', '{}', 'en', decode(md5(i::TEXT), 'hex'),
				$3::TIMESTAMPTZ + i * INTERVAL '1 hour', '{}', $3::TIMESTAMPTZ FROM generate_series(1, 5000) AS g (i)`,
		`INSERT INTO case_link (org_id, id, portal_id, case_ref, title, case_summary, language, channel, token_hash, expires_at, open_count, metadata, created_by, created_at)
			SELECT $1, gen_random_uuid(), CASE WHEN i % 2 = 0 THEN $2::UUID ELSE gen_random_uuid() END, '', '', '', 'en', 'link', decode(md5(i::TEXT), 'hex'), $3::TIMESTAMPTZ, 0, '{}', '', $3::TIMESTAMPTZ
			FROM generate_series(1, 5000) AS g (i)`,
		`INSERT INTO mail_link (org_id, hash, portal_id, person_id, membership_id, address_hash, created_at, expires_at)
			SELECT $1, decode(md5(i::TEXT), 'hex'), $2, gen_random_uuid(), gen_random_uuid(), '', $3::TIMESTAMPTZ, $3::TIMESTAMPTZ + i * INTERVAL '1 hour' FROM generate_series(1, 5000) AS g (i)`,
		`INSERT INTO mail_count (org_id, holder, hour, taken)
			SELECT $1, md5(i::TEXT), $3::TIMESTAMPTZ + i * INTERVAL '1 hour', 1 FROM generate_series(1, 5000) AS g (i) WHERE $2::UUID IS NOT NULL`,
		`INSERT INTO person_identity (org_id, connection_id, issuer, subject, person_id, created_at)
			SELECT $1, gen_random_uuid(), 'https://login.example.com', i::TEXT, gen_random_uuid(), $3::TIMESTAMPTZ FROM generate_series(1, 5000) AS g (i) WHERE $2::UUID IS NOT NULL`,
		`INSERT INTO job (org_id, id, kind, state, input, progress, done, total, resource_kind, resource_id, scope, error_code, attempts, created_by, created_at, heavy)
			SELECT $1, gen_random_uuid(), CASE WHEN i % 2 = 0 THEN 'mail_send' ELSE 'erase' END, 'queued', '{}', '{}', 0, 0, 'person', i::TEXT, '', '', 0, '', $3::TIMESTAMPTZ, false
			FROM generate_series(1, 5000) AS g (i) WHERE $2::UUID IS NOT NULL`,
		`INSERT INTO person (org_id, id, name, email, email_key, external_id, age_band, state, metadata, edition, created_at, updated_at)
			SELECT $1, gen_random_uuid(), '', i::TEXT, i::TEXT, i::TEXT, 'adult', 'active', '{}', 1, $3::TIMESTAMPTZ, $3::TIMESTAMPTZ FROM generate_series(1, 5000) AS g (i) WHERE $2::UUID IS NOT NULL`,
	} {
		w.exec(sql, w.one, w.portal.ID, tenanttest.Now)
	}
	w.exec(`ANALYZE portal_visit, used_token, signing_key, escalation, case_link, mail_link, mail_count, person_identity, job, person`)
}

// Each lookup and list rides the index that its function names.
func TestStatementsRideTheirIndexes(t *testing.T) {
	w := newWorld(t)
	db, err := w.tenants.Shard(t.Context(), "a")
	require.NoError(t, err)
	in, err := w.gate.AsVisitor(t.Context(), w.one, w.portal.ID, signin.Card{})
	require.NoError(t, err)
	m := w.learner()
	token := w.tokenOf(m)
	w.fill()
	unless := func(expected, err error) error {
		if errors.Is(err, expected) {
			return nil
		}
		return err
	}
	tx := func(fn func(context.Context, *tenant.Tx) error) func() error {
		return func() error { return w.inTx(fn) }
	}
	for name, c := range map[string]struct {
		text, index string
		do          func() error
	}{
		"a visit": {"FROM portal_visit", "portal_visit_pkey", func() error {
			_, err := w.gate.Find(t.Context(), w.portal.ID, in.Secret)
			return err
		}},
		"the key of a token": {"SELECT secret FROM signing_key", "signing_key_pkey", func() error {
			_, err := w.gate.ByEmbedToken(t.Context(), w.one, w.portal.ID, token)
			return err
		}},
		"the newest key": {"SELECT id, secret FROM signing_key", "signing_key_", func() error {
			_, err := w.embed(signin.Embed{Person: m.Person})
			return err
		}},
		"visits that are over": {"DELETE FROM portal_visit", "portal_visit_by_expiry", w.sweeps},
		"tokens that are over": {"DELETE FROM used_token", "used_token_by_expiry", w.sweeps},
		"keys that are old":    {"DELETE FROM signing_key", "signing_key_by_age", w.sweeps},
		"an escalation": {"FROM escalation", "escalation_pkey", tx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := escalation.Find(ctx, tx, id.NewEscalation())
			return unless(errdefs.NotFound{Noun: escalation.Noun}, err)
		})},
		"an escalation by its token": {"FROM escalation", "escalation_by_token", tx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := escalation.Opened(ctx, tx, w.portal.ID, escalation.NewToken())
			return unless(errdefs.NotFound{Noun: escalation.Noun}, err)
		})},
		"escalations that expire": {"FROM escalation", "escalation_waiting", func() error {
			_, err := escalation.Sweep(t.Context(), w.tenants, "a", w.clock.Now())
			return err
		}},
		"a link": {"FROM case_link", "case_link_pkey", func() error {
			_, err := caselink.Get(t.Context(), w.tenants, w.one, id.NewCaseLink())
			return unless(errdefs.NotFound{Noun: caselink.Noun}, err)
		}},
		"a link by its token": {"FROM case_link", "case_link_by_token", tx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := caselink.Open(ctx, tx, w.portal.ID, caselink.NewToken(), w.clock.Now())
			return unless(errdefs.NotFound{Noun: caselink.Noun}, err)
		})},
		"a link that was mailed": {"FROM mail_link", "mail_link_pkey", func() error {
			_, err := w.byLink("vml_none")
			if _, refused := errors.AsType[*signin.Refusal](err); refused {
				return nil
			}
			return err
		}},
		"a person by their identity": {"FROM person_identity i", "person_identity_pkey", tx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := person.ByIdentity(ctx, tx, person.At{Connection: id.NewConnection(), Issuer: "https://login.example.com", Subject: "7"})
			return unless(errdefs.NotFound{Noun: person.Noun}, err)
		})},
		"the other identities of a person": {"SELECT count(*) FROM person_identity", "person_identity_by_person", tx(func(ctx context.Context, tx *tenant.Tx) error {
			return person.Identify(ctx, tx, m.Person, person.At{Connection: id.NewConnection(), Issuer: "https://login.example.com", Subject: "7"}, w.clock.Now())
		})},
		"a person by their external id": {"FROM person p", "person_by_external", tx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := person.ByExternalID(ctx, tx, "none")
			return unless(errdefs.NotFound{Noun: person.Noun}, err)
		})},
		"a person by their address": {"FROM person p", "person_by_email", tx(func(ctx context.Context, tx *tenant.Tx) error {
			_, err := person.ByAddress(ctx, tx, "none@example.com")
			return unless(errdefs.NotFound{Noun: person.Noun}, err)
		})},
		"counts of mails that are over": {"DELETE FROM mail_count", "mail_count_by_hour", w.sweepsLetters},
		"links that are over":           {"DELETE FROM mail_link", "mail_link_by_expiry", w.sweepsLetters},
		"the links of a person":         {"DELETE FROM mail_link", "mail_link_by_person", w.forgets},
		"the letters of a person":       {"DELETE FROM job", "job_mail", w.forgets},
		"the identities of a person":    {"DELETE FROM person_identity", "person_identity_by_person", w.forgets},
		"the links of a portal": {"FROM case_link", "case_link_by_portal", func() error {
			_, err := caselink.List(t.Context(), w.tenants, w.one, w.portal.ID, id.CaseLink(uuid.Max), 50)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range w.sent.Of(t, c.text, c.do) {
				plan := s.Forced(t, db)
				require.Contains(t, plan, c.index, "%s\n%s", s.SQL, plan)
			}
		})
	}
}

func (w *world) sweeps() error {
	_, err := signin.Sweep(w.Context(), w.tenants, "a", w.clock.Now())
	return err
}

func (w *world) sweepsLetters() error {
	_, err := mailer.Sweep(w.Context(), w.tenants, "a", w.clock.Now())
	return err
}

// forgets makes the step of an erasure that forgets by what somebody comes in.
func (w *world) forgets() error {
	eraser := &person.Eraser{Files: file.New(nil, w.tenants, w.clock), Forget: func(context.Context, *tenant.Tx, id.Person) (int, error) { return 0, nil }}
	return w.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := eraser.Step(ctx, tx, &job.Job{ResourceID: id.NewPerson().String(), Progress: []byte(`{"said": true, "searched": true}`)}, w.clock.Now())
		return err
	})
}
