package session

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// Asking is how the user is asked whether the session may be recorded.
type Asking string

// The ways: one who does not agree is not recorded, or does not go on.
const (
	MayAgree  Asking = "asked"
	MustAgree Asking = "required"
)

// Wish is what somebody wants of the recording of a session that is minted.
type Wish struct {
	// Wanted says that the session is not to be where it cannot be recorded; Offered, that
	// it is recorded where it can be.
	Wanted, Offered bool
	// Minor says that the user is one.
	Minor bool
	// Guardian is the consent of their guardian to recordings; zero for none.
	Guardian id.Consent
}

// The reasons for which a session cannot be recorded, beside what switches are off
// (problem.Conflict, details.reason).
const (
	NoGuardian   = "guardian_consent_missing"
	NotKept      = "words_not_kept"
	NotRead      = "words_withheld"
	Redacted     = "words_redacted"
	nothingHeard = "nothing_heard"
)

// asks says whether the user of a session is asked to be recorded, under what settings
// say. The error is a problem, where that was wanted and cannot be.
func (s Session) asks(set setting.Values) (Asking, error) {
	w := s.Recording
	if !w.Wanted && !w.Offered {
		return "", nil
	}
	if err := s.recordable(set); err != nil {
		if w.Wanted {
			return "", err
		}
		return "", nil
	}
	if set.On(setting.RecordingsRequired) {
		return MustAgree, nil
	}
	return MayAgree, nil
}

// minor says whether a guardian must agree to the recording of a session.
func (s Session) minor(set setting.Values) bool {
	return s.Recording.Minor || s.Place() != setting.Place{} && set.On(setting.YoungLearners)
}

// recordable says why a session cannot be recorded; nil where it can. Sound cannot be blotted
// out as words can.
func (s Session) recordable(set setting.Values) error {
	var why *problem.Problem
	switch days := s.Brief.RetainDays; {
	case s.beganWithoutWords(), set.On(setting.ZeroRetention):
		why = problem.Conflicting(ZeroRetention, "The organization keeps no words, so no session can be recorded.")
	case !set.On(setting.Recordings):
		why = problem.Conflicting("switched_off", "The setting %s is off.", setting.Recordings).WithDetail("setting", setting.Recordings)
	case s.Kind == Screening, s.Channel == "chat", s.Transport == LiveKit:
		why = problem.Conflicting(nothingHeard, "Chats, job interviews and rooms of a media server are not recorded.")
	case s.minor(set) && s.Recording.Guardian.IsZero():
		why = problem.Conflicting(NoGuardian, "A minor is recorded only where a guardian agreed to recordings.")
	case s.Withheld != nil:
		why = problem.Conflicting(NotRead, "Nobody may read the session's words, so nobody could hear its recording.")
	case days != nil && *days == 0:
		why = problem.Conflicting(NotKept, "The session's words are kept for no time, so it cannot be recorded.")
	case len(s.Brief.Redact) > 0:
		why = problem.Conflicting(Redacted, "The persona has words blotted out of transcripts, which cannot be done to sound.")
	default:
		return nil
	}
	return why.WithParam("record")
}

// ErrNotAsked says that nobody asked the user whether the session may be recorded.
var ErrNotAsked = errors.New("the session is not to be recorded")

// Record records a session that its owner runs from now on, since its user agrees, and keeps that
// they do. It answers the consent. The error is ErrLost, or ErrNotAsked, also where it may not be any more (MayBeRecorded), or
// recording.ErrStopped.
func Record(ctx context.Context, tx *tenant.Tx, which id.Session, epoch int64, now time.Time) (id.Consent, error) {
	s, err := lockOwned(ctx, tx, which, epoch)
	if err != nil {
		return id.Consent{}, err
	}
	guardian, may, err := s.mayBeRecorded(ctx, tx, now)
	if err != nil {
		return id.Consent{}, err
	}
	if !may {
		return id.Consent{}, ErrNotAsked
	}
	k := consent.Consent{
		ID: id.NewConsent(), Kind: consent.ToRecording, State: consent.Given, Session: s.ID, Membership: s.Membership, Person: s.Person,
		Statement: recordingStatement, PolicyVersion: consent.PolicyVersion, SignedAt: now, RecordedAt: now, RecordedBy: s.ID.String(),
	}
	on, err := recording.Begin(ctx, tx, recording.Recording{Session: s.ID, Consent: k.ID, Guardian: guardian, CreatedAt: now}, epoch)
	if err != nil || on != k.ID {
		return on, err
	}
	if err := consent.Record(ctx, tx, k); err != nil {
		return id.Consent{}, err
	}
	event.EmitConsent(tx, k)
	return k.ID, nil
}

// MayBeRecorded says whether a session whose user is asked may be recorded as things stand by now:
// switches may have been turned since it was minted, and guardians may not agree any more. Who records
// asks again all the time.
func (s Session) MayBeRecorded(ctx context.Context, tx *tenant.Tx, now time.Time) (bool, error) {
	_, may, err := s.mayBeRecorded(ctx, tx, now)
	return may, err
}

// mayBeRecorded is MayBeRecorded, with the guardian's consent that the recording of a minor rests on.
func (s Session) mayBeRecorded(ctx context.Context, tx *tenant.Tx, now time.Time) (by id.Consent, may bool, err error) {
	if s.Brief.Record == "" || s.beganWithoutWords() {
		return by, false, nil
	}
	set, err := setting.At(ctx, tx, s.Place())
	if err != nil || !set.On(setting.Recordings) || set.On(setting.ZeroRetention) {
		return by, false, err
	}
	if s.Brief.RecordGuardian.IsZero() {
		return by, true, nil
	}
	// Not by the one consent that there was when it was minted: what counts is what all come to.
	agreed, err := consent.AgreedTo(ctx, tx, s.Membership, now)
	by = agreed.By(consent.ToRecord)
	return by, err == nil && !by.IsZero(), err
}

// recordingStatement is what a user declares.
const recordingStatement = "own_session"

// Unrecord deletes what was recorded of a session, whose user does not agree any more, and
// their consent is withdrawn. What is under a hold stays, and no more is recorded.
func Unrecord(ctx context.Context, tx *tenant.Tx, which id.Session, now time.Time) error {
	s, err := Lock(ctx, tx, which)
	if err != nil {
		return err
	}
	by, err := recording.ConsentOf(ctx, tx, s.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	withdrawn, changed, err := consent.Withdraw(ctx, tx, by, now)
	if err != nil {
		return err
	}
	if changed {
		event.EmitConsent(tx, withdrawn)
	}
	return s.unrecord(ctx, tx)
}

// WithdrawnGuardian deletes the recordings of a minor that rest on a guardian's consent which was
// withdrawn, and what their users agreed to ends with them.
func WithdrawnGuardian(ctx context.Context, tx *tenant.Tx, k id.Consent, now time.Time) error {
	sessions, err := recording.OfGuardian(ctx, tx, k)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if err := Unrecord(ctx, tx, s, now); err != nil && !gone(err) {
			return err
		}
	}
	return nil
}

// WithdrawnRecording deletes the recording that rests on a consent which was withdrawn.
func WithdrawnRecording(ctx context.Context, tx *tenant.Tx, k consent.Consent) error {
	s, err := Lock(ctx, tx, k.Session)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.unrecord(ctx, tx)
}

func (s Session) unrecord(ctx context.Context, tx *tenant.Tx) error {
	if s.OnHold {
		return recording.Stop(ctx, tx, s.ID)
	}
	return recording.Delete(ctx, tx, s.ID)
}
