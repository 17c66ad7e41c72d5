package hiring

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/hiring/law"
	"visavis.dev/pkg/hiring/role"
	"visavis.dev/pkg/portals/door"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// RoleInput is the request for a new role.
type RoleInput struct{ Body RoleWish }

// RoleWish is a role to be made.
type RoleWish struct {
	Title       string                    `json:"title" minLength:"1" maxLength:"200" doc:"What the role is called, as candidates read it."`
	SubjectID   string                    `json:"subjectId" minLength:"1" maxLength:"80" doc:"A subject of the kind screening."`
	Location    *LocationInput            `json:"location,omitempty" doc:"Where somebody is to work, from which the laws follow."`
	Department  *string                   `json:"department,omitempty" maxLength:"200" nullable:"true" doc:"The department, for your own use."`
	Languages   []string                  `json:"languages" minItems:"1" maxItems:"20" doc:"The languages that candidates are interviewed in, as codes or names."`
	Description string                    `json:"description,omitempty" maxLength:"8000" doc:"What candidates read of the role, in Markdown."`
	Scoring     string                    `json:"scoring,omitempty" enum:"off,advisory" doc:"advisory unless given."`
	MustHaves   []string                  `json:"mustHaves,omitempty" maxItems:"50" doc:"What reviewers look for, which they read with the interview; nothing is decided by it."`
	Knockouts   []role.Knockout           `json:"knockouts,omitempty" maxItems:"50" doc:"Choices that are pointed out to reviewers; nobody is rejected by one."`
	Retakes     int64                     `json:"retakes,omitempty" minimum:"0" maximum:"10" doc:"How many further interviews a candidate can be granted; none unless given."`
	Notice      *NoticeInput              `json:"notice,omitempty" doc:"What candidates are told before the interview."`
	BiasAudit   route.OptNull[role.Audit] `json:"biasAudit,omitzero" doc:"The last bias audit."`
	Process     string                    `json:"alternativeProcess,omitempty" maxLength:"4000" doc:"What happens instead for who does not want to talk with an AI."`
	KeepDays    int64                     `json:"retentionDays,omitempty" minimum:"1" maximum:"3650" doc:"For how many days after the decision candidates are kept; what hiring.retention_days says unless given."`
	Managers    []string                  `json:"hiringManagerIds,omitempty" maxItems:"50" doc:"The people who review and decide."`
	Blind       bool                      `json:"blind,omitempty" doc:"Whether names and contacts are kept from everybody until a candidate is decided on: advance, reject, hire or withdrawn."`
	Voluntary   bool                      `json:"voluntaryDemographics,omitempty" doc:"Whether candidates are asked after the interview to say their sex and race, if they wish, for the bias audit. Nobody reads one person's answer; counts can tell that nobody of a race was selected, or all."`
	Deadline    *time.Time                `json:"deadline,omitempty" nullable:"true" doc:"Until when candidates are invited and interviewed; no end unless given."`
	ExternalID  *string                   `json:"externalId,omitempty" maxLength:"200" nullable:"true" doc:"The role's id in your own system."`
	Metadata    map[string]string         `json:"metadata,omitempty" doc:"20 keys of 40 characters at most, with values of 500."`
}

// LocationInput is where somebody is to work.
type LocationInput struct {
	City     string `json:"city,omitempty" maxLength:"120" doc:"Where the work is, such as New York."`
	Region   string `json:"region,omitempty" maxLength:"80" doc:"The state or province; of the United States by its two letters or its name."`
	Country  string `json:"country,omitempty" pattern:"^([A-Z]{2})?$" doc:"The country by its two letters, such as US."`
	Remote   bool   `json:"remote,omitempty" doc:"Whether the work is done from elsewhere: candidates can have a location of their own, whose laws hold for them beside these. notice.laws has to have their texts."`
	Timezone string `json:"timezone,omitempty" maxLength:"60" doc:"The time zone by whose days notice is counted, as the IANA names it; UTC unless given."`
	// OutsideNYC is as law.Place has it.
	OutsideNYC bool `json:"outsideNewYorkCity,omitempty" doc:"Whether a place in New York State lies outside of New York City; to be said where city does not tell."`
}

// NoticeInput is what candidates are to be told.
type NoticeInput struct {
	Required []law.Key      `json:"required,omitempty" enum:"ca_crc,co_sb26_189,eu_ai_act,il_aivia,il_hra,nyc_ll144" maxItems:"10" doc:"Laws beside those of the location."`
	Text     language.Words `json:"text,omitempty" doc:"What everybody is told of the interview and how an AI is used in it, by language."`
	Laws     []role.LawText `json:"laws,omitempty" maxItems:"10" doc:"What each of the laws wants told, by language."`
	Signals  language.Words `json:"signals,omitempty" doc:"What candidates are told of what their page notes during the interview, by language: pasted texts, and when the page is left. Nothing is noted of who was not told."`
	LeadDays int64          `json:"leadDays,omitempty" minimum:"0" maximum:"90" doc:"How many business days lie between the notice and the interview; as many as the laws ask for unless given."`
}

func (n *NoticeInput) notice() (role.Notice, error) {
	made := role.Notice{Required: []law.Key{}, Text: language.Words{}, Laws: []role.LawText{}, Signals: language.Words{}}
	if n == nil {
		return made, nil
	}
	var err error
	if made.Text, err = words("notice.text", n.Text); err != nil {
		return made, err
	}
	if made.Signals, err = words("notice.signals", n.Signals); err != nil {
		return made, err
	}
	for i, t := range n.Laws {
		if t.Text, err = words(fmt.Sprintf("notice.laws[%d].text", i), t.Text); err != nil {
			return made, err
		}
		made.Laws = append(made.Laws, t)
	}
	made.Required, made.LeadDays = append(made.Required, n.Required...), n.LeadDays
	return made, nil
}

// longestText is in characters.
const longestText = 8000

// words are texts by the codes of their languages.
func words(field string, w language.Words) (language.Words, error) {
	made := language.Words{}
	for name, text := range w {
		l, known := language.Lookup(name)
		switch {
		case !known:
			return nil, problem.Invalid("body."+field+"."+name, "That is no language of GET /languages.")
		case len([]rune(text)) > longestText:
			return nil, problem.Invalid("body."+field+"."+name, "It has at most %d characters.", longestText)
		}
		made[l.Code] = text
	}
	return made, nil
}

// codes are languages by their codes, each once.
func codes(field string, names []string) ([]string, error) {
	made := []string{}
	for i, name := range names {
		l, known := language.Lookup(name)
		if !known {
			return nil, problem.Invalid(fmt.Sprintf("body.%s[%d]", field, i), "That is no language of GET /languages.")
		}
		if !slices.Contains(made, l.Code) {
			made = append(made, l.Code)
		}
	}
	return made, nil
}

func people(field string, sent []string) ([]id.Person, error) {
	made := []id.Person{}
	for i, text := range sent {
		p, err := id.ParsePerson(text)
		if err != nil {
			return nil, problem.Missing("person").WithParam(fmt.Sprintf("body.%s[%d]", field, i))
		}
		if !slices.Contains(made, p) {
			made = append(made, p)
		}
	}
	return made, nil
}

// moment is a time of a body as it is kept: to the microsecond.
func moment(name string, t *time.Time) (*time.Time, error) {
	if t == nil {
		return nil, nil
	}
	return new(t.UTC().Truncate(time.Microsecond)), route.CheckTime("body."+name, *t)
}

func (p *LocationInput) place() law.Place {
	if p == nil {
		return law.Place{}
	}
	return law.Place{City: p.City, Region: p.Region, Country: p.Country, Remote: p.Remote, Timezone: p.Timezone, OutsideNYC: p.OutsideNYC}
}

func (b *RoleWish) role() (r role.Role, err error) {
	r = role.Role{Title: b.Title, ExternalID: b.ExternalID, Metadata: b.Metadata}
	r.Definition = role.Definition{
		Location: b.Location.place(), Department: b.Department, Description: b.Description, Scoring: cmp.Or(b.Scoring, role.Advisory), MustHaves: b.MustHaves,
		Knockouts: b.Knockouts, Retakes: b.Retakes, Audit: b.BiasAudit.Value, Process: b.Process, KeepDays: b.KeepDays, Blind: b.Blind,
		Demographics: b.Voluntary,
	}
	if r.Subject, err = id.ParseSubject(b.SubjectID); err != nil {
		return r, problem.Missing("subject").WithParam("body.subjectId")
	}
	if r.Languages, err = codes("languages", b.Languages); err != nil {
		return r, err
	}
	if r.Notice, err = b.Notice.notice(); err != nil {
		return r, err
	}
	if r.Managers, err = people("hiringManagerIds", b.Managers); err != nil {
		return r, err
	}
	if r.Deadline, err = moment("deadline", b.Deadline); err != nil {
		return r, err
	}
	r.Definition = filled(r.Definition)
	return r, route.CheckMetadata(b.Metadata)
}

// filled is a definition whose lists are none rather than null.
func filled(d role.Definition) role.Definition {
	if d.MustHaves == nil {
		d.MustHaves = []string{}
	}
	if d.Notice.Signals == nil { // of a role from before there were any
		d.Notice.Signals = language.Words{}
	}
	if d.Knockouts == nil {
		d.Knockouts = []role.Knockout{}
	}
	return d
}

// RoleUpdate is the request for a change of a role.
type RoleUpdate struct {
	RolePath
	route.Edition
	Body RoleChange
}

// RoleChange is what to change of a role.
type RoleChange struct {
	Title       route.Opt[string]            `json:"title,omitzero" minLength:"1" maxLength:"200" doc:"What the role is called."`
	State       route.Opt[role.State]        `json:"state,omitzero" enum:"draft,open,paused,closed" doc:"open, paused or closed."`
	Location    route.Opt[LocationInput]     `json:"location,omitzero" doc:"In place of where it was."`
	Department  route.OptNull[string]        `json:"department,omitzero" maxLength:"200" doc:"The department; null for none."`
	Languages   route.Opt[[]string]          `json:"languages,omitzero" minItems:"1" maxItems:"20" doc:"In place of the languages that there were."`
	Description route.Opt[string]            `json:"description,omitzero" maxLength:"8000" doc:"What candidates read of the role, in Markdown."`
	Scoring     route.Opt[string]            `json:"scoring,omitzero" enum:"off,advisory" doc:"Whether answers are scored for reviewers."`
	MustHaves   route.Opt[[]string]          `json:"mustHaves,omitzero" maxItems:"50" doc:"What reviewers look for."`
	Knockouts   route.Opt[[]role.Knockout]   `json:"knockouts,omitzero" maxItems:"50" doc:"Choices that are pointed out to reviewers."`
	Retakes     route.Opt[int64]             `json:"retakes,omitzero" minimum:"0" maximum:"10" doc:"How many further interviews a candidate can be granted."`
	Notice      route.Opt[NoticeInput]       `json:"notice,omitzero" doc:"In place of the notice that there was, for candidates who were not told yet; not while the role stays open."`
	BiasAudit   route.OptNull[role.Audit]    `json:"biasAudit,omitzero" doc:"The last bias audit; null for none."`
	Process     route.Opt[string]            `json:"alternativeProcess,omitzero" maxLength:"4000" doc:"What happens instead for who does not want to talk with an AI."`
	KeepDays    route.Opt[int64]             `json:"retentionDays,omitzero" minimum:"1" maximum:"3650" doc:"For how many days after the decision candidates are kept, of those who are invited or decided on from now on."`
	Managers    route.Opt[[]string]          `json:"hiringManagerIds,omitzero" maxItems:"50" doc:"The people who review and decide."`
	Blind       route.Opt[bool]              `json:"blind,omitzero" doc:"Whether names and contacts are kept from everybody until a candidate is decided on: advance, reject, hire or withdrawn."`
	Voluntary   route.Opt[bool]              `json:"voluntaryDemographics,omitzero" doc:"Whether candidates are asked after the interview to say their sex and race, if they wish, for the bias audit. It cannot be turned on once the role was open: off stays off."`
	Deadline    route.OptNull[time.Time]     `json:"deadline,omitzero" doc:"Until when candidates are invited and interviewed; null for no end."`
	ExternalID  route.OptNull[string]        `json:"externalId,omitzero" maxLength:"200" doc:"The role's id in your own system; null for none."`
	Metadata    route.Opt[map[string]string] `json:"metadata,omitzero" doc:"In place of what there was: 20 keys of 40 characters at most, with values of 500."`
}

func set[T any](to *T, sent route.Opt[T]) {
	if sent.Set {
		*to = sent.Value
	}
}

// apply is a role with what was sent of it.
func (b RoleChange) apply(r role.Role) (role.Role, error) {
	set(&r.Title, b.Title)
	set(&r.State, b.State)
	set(&r.Department, b.Department.Opt)
	set(&r.Description, b.Description)
	set(&r.Scoring, b.Scoring)
	set(&r.MustHaves, b.MustHaves)
	set(&r.Knockouts, b.Knockouts)
	set(&r.Retakes, b.Retakes)
	set(&r.Audit, b.BiasAudit.Opt)
	set(&r.Process, b.Process)
	set(&r.KeepDays, b.KeepDays)
	set(&r.Blind, b.Blind)
	set(&r.Demographics, b.Voluntary)
	set(&r.ExternalID, b.ExternalID.Opt)
	set(&r.Metadata, b.Metadata)
	if b.Location.Set {
		r.Location = b.Location.Value.place()
	}
	var err error
	if b.Languages.Set {
		if r.Languages, err = codes("languages", b.Languages.Value); err != nil {
			return r, err
		}
	}
	if b.Notice.Set {
		if r.Notice, err = b.Notice.Value.notice(); err != nil {
			return r, err
		}
	}
	if b.Managers.Set {
		if r.Managers, err = people("hiringManagerIds", b.Managers.Value); err != nil {
			return r, err
		}
	}
	if b.Deadline.Set {
		if r.Deadline, err = moment("deadline", b.Deadline.Value); err != nil {
			return r, err
		}
	}
	r.Definition = filled(r.Definition)
	return r, route.CheckMetadata(b.Metadata.Value)
}

// standing is what the organization has set that roles go by.
type standing struct {
	values   setting.Values
	keepDays int64
	door     bool
}

func settings(ctx context.Context, tx *tenant.Tx, p id.Portal) (standing, error) {
	values, err := setting.At(ctx, tx, setting.Place{Portal: p})
	if err != nil {
		return standing{}, err
	}
	s := standing{values: values}
	s.keepDays, _ = values.Number(setting.HiringRetentionDays)
	if !p.IsZero() {
		d, err := door.Find(ctx, tx, p, door.Candidates)
		if err != nil {
			return s, err
		}
		s.door = d.Open
	}
	return s, nil
}

func (s standing) opening(now time.Time) role.Opening {
	days, _ := s.values.Number(setting.HiringNoticeDays)
	return role.Opening{
		NoticeDays:    days,
		ZeroRetention: s.values.On(setting.ZeroRetention), YoungLearners: s.values.On(setting.YoungLearners), Door: s.door, Now: now,
	}
}

// ofBody says where in the body what is missing was named.
func ofBody(err error) error {
	if errdefs.IsNotFound(err, subject.Noun) {
		return route.At(err, "body.subjectId")
	}
	return err
}
