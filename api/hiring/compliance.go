package hiring

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/hiring/screening"
)

func (a *API) registerCompliance(s *route.Service) {
	route.Handle(s, route.Operation{
		ID: "getCandidateCompliance", Group: group, Method: http.MethodGet, Path: "/candidates/{id}/compliance", Class: "read", Scope: scope.CandidatesData,
		Summary: "What was done about a candidate, provably",
		Description: "It can be read of who was erased too. Each entry of the record holds the hash of the one before; words of people lie beside the entries " +
			"by salted hashes, so that they can be erased and the rest still verifies. Once a day the organization's issuer key signs how the records stand: " +
			"record.anchors show that nothing was written, changed or cut off later. `visavis verify FILE` checks a saved answer without any server.",
	}, a.compliance)
}

// Compliance is what was done about a candidate.
type Compliance struct {
	CandidateID        id.Candidate                   `json:"candidateId" doc:"The candidate."`
	Jurisdictions      []string                       `json:"jurisdiction" enum:"us_nyc,us_il,us_co,us_ca,eu" doc:"Where the laws hold whose notices the candidate was given; of who was not told yet, those of the role when they were invited."`
	Notices            []ComplianceNotice             `json:"notices" doc:"The notices that the candidate was given."`
	Consents           []ComplianceConsent            `json:"consents" doc:"What the candidate agreed to, and took back."`
	QuestionSets       []RecordedQuestions            `json:"questionSets" doc:"Which versions of the role's questions the candidate was invited to be asked, and asked, in the order in which the record names them. Their words are in record.questionSets."`
	AIUse              AIUse                          `json:"aiUse" doc:"What was scored, and by what."`
	BiasAudit          route.OrNull[role.Audit]       `json:"biasAudit" doc:"The role's bias audit when the interview was last begun; null for none, and before."`
	AlternativeOffered bool                           `json:"alternativeOffered" doc:"Whether the notice came with what happens instead for who does not want to talk with an AI."`
	HumanReview        route.OrNull[HumanReview]      `json:"humanReview" doc:"Who has read the interview; null for nobody yet."`
	Requests           []RecordedRequest              `json:"requests" doc:"What the candidate asked for, oldest first."`
	Decision           route.OrNull[RecordedDecision] `json:"decision" doc:"What was decided last; null for nothing yet."`
	ExplanationSentAt  *time.Time                     `json:"explanationSentAt" doc:"When the candidate was sent why, in UTC; null for never."`
	ExplanationDueAt   *time.Time                     `json:"explanationDueAt" doc:"By when a law of the role has the candidate told why they were rejected, in UTC; null for never."`
	Retention          Retention                      `json:"retention" doc:"Until when what is kept."`
	ErasedAt           *time.Time                     `json:"erasedAt" doc:"When they were erased, in UTC; null for not."`
	Record             CandidateRecord                `json:"record" doc:"Every entry, to be verified."`
}

// ComplianceNotice is a notice that a candidate was given.
type ComplianceNotice struct {
	Law            law.Key    `json:"law" enum:"ca_crc,co_sb26_189,eu_ai_act,il_aivia,il_hra,nyc_ll144" doc:"The law that wants it."`
	Version        string     `json:"version" doc:"Your name for its wording."`
	TextHash       string     `json:"textHash" doc:"The SHA-256 of the words of it that they were given, in hexadecimal. The entry notice.given has that of the whole notice, whose parts are joined by blank lines."`
	SentAt         time.Time  `json:"sentAt" doc:"When it was given, in UTC."`
	Channel        string     `json:"channel" enum:"email,page" doc:"How it was given."`
	AcknowledgedAt *time.Time `json:"acknowledgedAt" doc:"When the candidate said that they read it, in UTC; null for not."`
	LeadDaysMet    bool       `json:"leadDaysMet" doc:"Whether no interview began before the days were over that lie between."`
}

// ComplianceConsent is something that a candidate agreed to.
type ComplianceConsent struct {
	Kind       string    `json:"kind" enum:"ai_interview" doc:"What it is for."`
	State      string    `json:"state" enum:"given,withdrawn" doc:"How it stands."`
	RecordedAt time.Time `json:"recordedAt" doc:"When it was given or withdrawn, in UTC."`
}

// RecordedQuestions is a version of the questions, as the record names it.
type RecordedQuestions struct {
	Version       int64  `json:"version" doc:"Its number among those of the role, from one."`
	Hash          string `json:"hash" doc:"The SHA-256 of its words, in hexadecimal."`
	RubricVersion int64  `json:"rubricVersion" doc:"The version of the subject's content whose rubrics answers are held against."`
}

// AIUse is what a program did.
type AIUse struct {
	Scored            bool     `json:"scored" doc:"Whether answers were scored."`
	Factors           []string `json:"factors" doc:"The criteria that answers were held against, by their keys. Words alone are: nothing of how somebody looked or sounded."`
	Model             string   `json:"model" doc:"What scored them: the platform's rubric scorer, which is no statistical model of people."`
	RubricVersion     *int64   `json:"rubricVersion" doc:"The version of the subject's content; null where nothing was scored."`
	SubstantialFactor bool     `json:"substantialFactor" doc:"Always false: scores are shown to a person who has read the answers, and decides."`
}

// HumanReview says who has read an interview.
type HumanReview struct {
	By id.Person `json:"by" doc:"Who has read it."`
	At time.Time `json:"at" doc:"When, in UTC."`
}

// RecordedDecision is a decision with its reason.
type RecordedDecision struct {
	Value  candidate.Value `json:"value" enum:"advance,reject,hold,hire,withdrawn" doc:"What was decided."`
	By     id.Person       `json:"by" doc:"Who decided."`
	At     time.Time       `json:"at" doc:"When, in UTC."`
	Reason string          `json:"reasonCode" doc:"Why, by your own code."`
}

// RecordedRequest is something that a candidate asked for.
type RecordedRequest struct {
	RequestID   id.CandidateRequest    `json:"requestId" doc:"The request."`
	Kind        candidate.RequestKind  `json:"kind" enum:"accommodation,human_alternative,data_access,correction,erasure,explanation,appeal,retake" doc:"What was asked for."`
	State       candidate.RequestState `json:"state" enum:"open,granted,declined,done" doc:"How it was answered last; open for not."`
	RequestedAt time.Time              `json:"requestedAt" doc:"When it was asked for, in UTC."`
	DueAt       time.Time              `json:"dueAt" doc:"By when it was to be answered, in UTC."`
	DecidedBy   *id.Person             `json:"decidedBy" nullable:"true" doc:"Who answered; null for nobody."`
	DecidedAt   *time.Time             `json:"decidedAt" doc:"When it was answered last, in UTC; null for not."`
}

// Retention is until when a candidate is kept.
type Retention struct {
	WordsUntil *time.Time `json:"wordsUntil" doc:"Until when what they said is kept, in UTC; null where it is deleted, or held."`
	Until      time.Time  `json:"until" doc:"Until when the rest is kept, in UTC: as long as the role has it, or a law wants it, whichever is longer."`
	OnHold     bool       `json:"onHold" doc:"Whether nothing is deleted."`
}

// CandidateRecord is the entries of a record, as visavis verify takes them.
type CandidateRecord struct {
	Format         string           `json:"format" doc:"The form of the record: visavis-candidate-record-2 where it has questionSets, visavis-candidate-record-1 otherwise."`
	OrganizationID id.Org           `json:"organizationId" doc:"The organization whose candidate it is of, which anchors name."`
	CandidateID    id.Candidate     `json:"candidateId" doc:"Whose it is."`
	ExportedAt     time.Time        `json:"exportedAt" doc:"When it was read, in UTC."`
	Head           string           `json:"head" doc:"The hash of the last entry."`
	Intact         bool             `json:"intact" doc:"Whether every entry is what was hashed, up to the head that is kept with the candidate."`
	Entries        []RecordEntry    `json:"entries" doc:"The entries, oldest first."`
	QuestionSets   []RecordDocument `json:"questionSets,omitempty" doc:"The questions in their words and order, whose hashes the entries name; left out where they name none."`
	Anchors        []RecordAnchor   `json:"anchors" doc:"How the record stood when it was signed, oldest first: once a day where it changed."`
}

// RecordDocument is a version of the questions as it was hashed.
type RecordDocument struct {
	Hash     string `json:"hash" doc:"The SHA-256 of the document, in hexadecimal."`
	Document string `json:"document" doc:"The questions as JSON, exactly as they were hashed."`
}

// RecordAnchor is a signature over how the records of an organization stood, with how one stands in
// it.
type RecordAnchor struct {
	Number    int64        `json:"number" doc:"Its place among the organization's anchors, from one."`
	At        time.Time    `json:"at" doc:"When it was signed, in UTC."`
	Leaves    int64        `json:"leaves" doc:"How many records it holds."`
	Root      string       `json:"root" doc:"The root of their Merkle tree, in base64url."`
	Previous  string       `json:"previous" doc:"The hash of the anchor before, in base64url; empty for the first."`
	KeyID     id.IssuerKey `json:"keyId" doc:"The key that signed it, as the organization's DID document names it."`
	PublicKey string       `json:"publicKey" doc:"The Ed25519 key, in base64url."`
	Signature string       `json:"signature" doc:"The signature of the anchor's hash, in base64url."`
	Length    int64        `json:"length" doc:"How many entries the record had."`
	Path      []AnchorStep `json:"path" doc:"What leads from the record to the root."`
}

// AnchorStep is a hash on the way to the root of an anchor.
type AnchorStep struct {
	Left bool   `json:"left" doc:"Whether it stands on the left."`
	Hash string `json:"hash" doc:"The hash, in base64url."`
}

// RecordEntry is one thing that was done.
type RecordEntry struct {
	Number    int64                     `json:"number" doc:"Its place, from one."`
	At        time.Time                 `json:"at" doc:"When, in UTC."`
	Actor     string                    `json:"actor" doc:"The id of a key, candidate, or platform."`
	Action    string                    `json:"action" doc:"What was done, such as candidate.reviewed."`
	Data      string                    `json:"data" doc:"The facts as JSON, exactly as they were hashed."`
	WordsHash string                    `json:"wordsHash" doc:"The salted hash of the words beside it, in base64url; empty for none."`
	Previous  string                    `json:"previous" doc:"The hash of the entry before, in base64url."`
	Hash      string                    `json:"hash" doc:"The hash of the entry, in base64url."`
	Words     route.OrNull[RecordWords] `json:"words" doc:"The words beside it; null for none, and once they are erased."`
}

// RecordWords are personal words beside an entry.
type RecordWords struct {
	Salt string `json:"salt" doc:"The salt of their hash, in base64url."`
	Text string `json:"text" doc:"What was said or written."`
}

func showRecord(org id.Org, x candidate.Candidate, entries []record.Entry, anchors []record.Anchored, asked []question.Set, now time.Time) CandidateRecord {
	shown := CandidateRecord{
		Format: record.Format, OrganizationID: org, CandidateID: x.ID, Anchors: showAnchors(anchors), ExportedAt: now.UTC(), Head: text(x.Head), Entries: make([]RecordEntry, len(entries)),
		Intact: record.Check(x.ID, entries) == nil && record.Ends(x.ID, entries, x.Length, x.Head),
	}
	for i, e := range entries {
		shown.Entries[i] = RecordEntry{
			Number: e.Number, At: e.At, Actor: e.Actor, Action: e.Action, Data: e.Data, WordsHash: text(e.WordsHash), Previous: text(e.Previous), Hash: text(e.Hash),
		}
		if e.Words != nil {
			shown.Entries[i].Words.Value = &RecordWords{text(e.Words.Salt), e.Words.Text}
		}
	}
	for _, s := range asked {
		shown.Format = record.AskedFormat
		shown.QuestionSets = append(shown.QuestionSets, RecordDocument{s.Hash, s.Text})
	}
	return shown
}

func showAnchors(anchors []record.Anchored) []RecordAnchor {
	shown := make([]RecordAnchor, len(anchors))
	for i, a := range anchors {
		shown[i] = RecordAnchor{
			Number: a.Number, At: a.At, Leaves: a.Leaves, Root: text(a.Root), Previous: text(a.Previous), KeyID: a.Key, PublicKey: text(a.PublicKey),
			Signature: text(a.Signature), Length: a.Length, Path: make([]AnchorStep, len(a.Path)),
		}
		for j, s := range a.Path {
			shown[i].Path[j] = AnchorStep{s.Left, text(s.Hash)}
		}
	}
	return shown
}

func text(h record.Hash) string {
	encoded, _ := h.MarshalText() // never fails
	return string(encoded)
}

func (a *API) compliance(ctx context.Context, c *route.Call, p *CandidatePath) (Compliance, error) {
	which, err := p.candidate()
	if err != nil {
		return Compliance{}, err
	}
	x, err := candidate.GetAny(ctx, a.Tenants, c.Org(), which)
	if err != nil {
		return Compliance{}, err
	}
	entries, err := record.Of(ctx, a.Tenants, c.Org(), x.ID)
	if err != nil {
		return Compliance{}, err
	}
	anchors, err := record.Anchors(ctx, a.Tenants, c.Org(), x.ID)
	if err != nil {
		return Compliance{}, err
	}
	asked, err := record.AskedIn(entries)
	if err != nil {
		return Compliance{}, err
	}
	hashes := make([]string, len(asked))
	for i, q := range asked {
		hashes[i] = q.Hash
	}
	sets, err := question.Hashed(ctx, a.Tenants, c.Org(), x.Role, hashes)
	if err != nil {
		return Compliance{}, err
	}
	shown := Compliance{
		QuestionSets: make([]RecordedQuestions, len(asked)), CandidateID: x.ID, Jurisdictions: []string{}, Notices: []ComplianceNotice{}, Consents: []ComplianceConsent{}, Requests: []RecordedRequest{},
		ErasedAt: route.UTC(x.ErasedAt), Record: showRecord(c.Org(), x, entries, anchors, sets, c.Now()),
		Retention: Retention{WordsUntil: route.UTC(x.WordsUntil), Until: x.RetainUntil.UTC(), OnHold: x.OnHold},
		AIUse:     AIUse{Factors: []string{}, Model: "rubric"},
	}
	for i, q := range asked {
		shown.QuestionSets[i] = RecordedQuestions{q.Version, q.Hash, q.Rubric}
	}
	if err := shown.read(entries); err != nil {
		return Compliance{}, err
	}
	shown.told(x, entries)
	if x.ReviewedAt != nil {
		shown.HumanReview.Value = &HumanReview{x.Reviewer, x.ReviewedAt.UTC()}
	}
	if d := x.Decision; d != nil {
		shown.Decision.Value = &RecordedDecision{d.Value, d.By, d.At.UTC(), d.ReasonCode}
		shown.ExplanationSentAt, shown.ExplanationDueAt = route.UTC(d.ExplainedAt), route.UTC(d.ExplainBy)
	}
	return shown, nil
}

// told adds what a candidate was told and agreed to.
func (shown *Compliance) told(x candidate.Candidate, entries []record.Entry) {
	met := true
	for _, e := range entries {
		if e.Action == candidate.StartedInterview {
			met = met && x.StartsFrom != nil && !e.At.Before(*x.StartsFrom)
		}
	}
	if x.Notice != nil {
		for _, t := range x.Notice.Laws {
			shown.Notices = append(shown.Notices, ComplianceNotice{t.Law, t.Version, t.TextHash, x.Notice.At.UTC(), x.Notice.Channel, route.UTC(x.Notice.AcknowledgedAt), met})
		}
	}
	if at := x.Consent.InterviewAt; at != nil {
		shown.Consents = append(shown.Consents, ComplianceConsent{"ai_interview", "given", at.UTC()})
	}
	if at := x.Consent.WithdrawnAt; at != nil {
		shown.Consents = append(shown.Consents, ComplianceConsent{"ai_interview", "withdrawn", at.UTC()})
	}
}

// facts are what entries say that are read again. Each kind of entry has some of them.
type facts struct {
	Laws          json.RawMessage        `json:"laws"`
	Jurisdictions []string               `json:"jurisdictions"`
	Alternative   bool                   `json:"alternative"`
	BiasAudit     *role.Audit            `json:"biasAudit"`
	Request       id.CandidateRequest    `json:"requestId"`
	Kind          candidate.RequestKind  `json:"kind"`
	State         candidate.RequestState `json:"state"`
	DueAt         time.Time              `json:"dueAt"`
	DecidedBy     id.Person              `json:"decidedBy"`
	screening.Facts
}

// read takes from the record how things stood at the time: the role may be another by now.
func (shown *Compliance) read(entries []record.Entry) error {
	for _, e := range entries {
		var f facts
		switch e.Action {
		case candidate.WasInvited, candidate.GivenNotice, candidate.StartedInterview, candidate.EndedInterview, candidate.MadeRequest, candidate.AnsweredRequest:
			if err := json.Unmarshal([]byte(e.Data), &f); err != nil {
				return err
			}
		}
		switch e.Action {
		case candidate.WasInvited:
			var laws []law.Key
			if err := json.Unmarshal(f.Laws, &laws); err != nil {
				return err
			}
			shown.Jurisdictions = law.Jurisdictions(laws)
		case candidate.GivenNotice:
			shown.AlternativeOffered = f.Alternative
			shown.Jurisdictions = append([]string{}, f.Jurisdictions...)
		case candidate.StartedInterview:
			shown.BiasAudit.Value = f.BiasAudit
		case candidate.EndedInterview:
			if f.Scored {
				u := &shown.AIUse
				u.Scored, u.Factors, u.RubricVersion = true, append([]string{}, f.Factors...), &f.Version
			}
		case candidate.MadeRequest:
			shown.Requests = append(shown.Requests, RecordedRequest{
				RequestID: f.Request, Kind: f.Kind, State: candidate.RequestOpen, RequestedAt: e.At, DueAt: f.DueAt.UTC(),
			})
		case candidate.AnsweredRequest:
			for i := range shown.Requests {
				if q := &shown.Requests[i]; q.RequestID == f.Request {
					q.State, q.DecidedBy, q.DecidedAt = f.State, f.DecidedBy.OrNil(), new(e.At)
				}
			}
		}
	}
	return nil
}
