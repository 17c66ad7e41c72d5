package worker

import (
	"context"
	"errors"
	"io"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/figures/dashboard"
	"visavis.dev/pkg/figures/export"
	"visavis.dev/pkg/hiring/ats"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/demographics"
	hiringrecord "visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/course"
	"visavis.dev/pkg/learning/gradebook"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/learning/recordstore"
	"visavis.dev/pkg/learning/report"
	"visavis.dev/pkg/learning/resourcelink"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/learning/statement"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/dispatch"
	"visavis.dev/pkg/personas/duo"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/person/roster"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/translation"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/sessions/appointment"
	"visavis.dev/pkg/sessions/crm"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/sessions/exchange"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/minds"
	"visavis.dev/pkg/sessions/notice"
	"visavis.dev/pkg/sessions/notify"
	"visavis.dev/pkg/sessions/recording"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/sessions/slot"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/visits/agent"
	"visavis.dev/pkg/visits/memory"
	"visavis.dev/pkg/visits/signin"
)

// background puts together what the nouns declare: a line for each.
func background(b *backend.Backend, m *minds.Minds, work Options) job.Background {
	o, d := b.Options, sweep.Deps{Tenants: b.Tenants, Clock: b.Options.Clock}
	terms, open, reporter := b.Organizations.Terms, m.Connections, m.Reporter
	fetch := crawl.New(b.Egress, o.Clock).Fetch
	read := work.Extract
	if read == nil {
		read = readNothing
	}
	contacts := crm.New(crm.Options{Tenants: b.Tenants, Opener: open, Report: reporter, Egress: b.Egress, Clock: o.Clock})
	tickets := &notify.Teller{Tenants: b.Tenants, Opener: open, Report: reporter, Egress: b.Egress, Spoken: session.SpokenOf(b.Tenants), Clock: o.Clock}
	voluntary := &demographics.Store{Tenants: b.Tenants, Vault: b.Vault}
	return job.Collect(
		// What is kept for every noun.
		job.Background{Tasks: b.Changes.Tasks(o.Clock)},
		job.Background{Tasks: b.Files.Tasks()},
		job.Background{Tasks: idempotency.Tasks(d)},
		job.Background{Tasks: limits.Tasks(b.Directory)},
		job.Background{Tasks: job.Tasks(d, b.Files)},
		job.Background{Tasks: event.Tasks(d)},
		job.Background{Tasks: webhook.Tasks(d)},
		delivery.Background(d),
		// What talks.
		job.Background{Tasks: avatar.Tasks(d)},
		(&face.Preparer{Tenants: b.Tenants, Files: b.Files, Library: b.Library}).Background(),
		(&voice.Cloner{Tenants: b.Tenants, Files: b.Files, Opener: open, Report: reporter, Egress: b.Egress, Clock: o.Clock}).Background(),
		job.Background{Tasks: connection.Tasks(d)},
		dispatch.Resumer{
			connection.LTI: dispatch.Each(resourcelink.ResumeSome, course.ResumeSome), connection.XAPI: statement.ResumeSome,
			connection.CalDAV: slot.Resume, connection.GoogleCalendar: slot.Resume,
			connection.Slack: notice.ResumeSome, connection.Teams: notice.ResumeSome, connection.Zendesk: notice.ResumeSome,
		}.Background(),
		(&knowledge.Reader{Tenants: b.Tenants, Files: b.Files, Fetch: fetch, Extract: read, Clock: o.Clock, Log: o.Log}).Background(),
		(&knowledge.Embedder{Tenants: b.Tenants, Opener: open, Egress: b.Egress, Report: reporter, Clock: o.Clock}).Background(),
		job.Background{Tasks: persona.Tasks(d)},
		job.Background{Tasks: duo.Tasks(d)},
		// What is said.
		session.Background(d),
		job.Background{Tasks: append(inbox.Tasks(d), slot.Tasks(d)...)},
		calendars(b, m).Background(),
		contacts.Background(),
		exchange.New(dispatch.New(open, o.Clock, crm.Patience), map[connection.Kind]exchange.Pass{
			connection.CRM: contacts.Pass, connection.Helpdesk: tickets.Pass,
		}).Background(),
		job.Background{Tasks: notice.Tasks(d)},
		tickets.Background(),
		job.Background{Tasks: escalation.Tasks(d)},
		(&recording.Joiner{Tenants: b.Tenants, Files: b.Files, Folder: work.TemporaryFolder, Clock: o.Clock, Log: o.Log}).Background(),
		(&rehearsal.Rehearser{Tenants: b.Tenants, Files: b.Files, Minds: m, Clock: o.Clock, Log: o.Log}).Background(),
		// Places that are open to people.
		job.Background{Tasks: b.Addresses.Tasks()},
		(&mailer.Worker{Tenants: b.Tenants, Vault: b.Vault, Sender: o.Mail, PortalURL: o.PageURL(), Candidates: candidate.Letters{}, Interviews: candidate.Letters{}, Answers: b.Answers,
			JoinURL: func(which id.Session, token string) string { return session.StaffURL(o.PageURL(), which, token) }, Clock: o.Clock, Log: o.Log}).Background(),
		(&person.Eraser{Files: b.Files, Forget: person.ForgetEach(memory.ForgetPerson, certificate.ForgetPerson, record.ForgetPerson, result.ForgetPerson, resourcelink.ForgetPerson, course.ForgetPerson, mastery.ForgetPerson, assignment.ForgetPerson, dashboard.ForgetPerson, statement.ForgetPerson)}).Background(d),
		roster.NewImporter(b.Tenants, b.Files, terms).Background(),
		(&setup.Builder{
			Sources: setup.Sources{Tenants: b.Tenants, Fetch: fetch, Extract: read},
			Scribe:  &setup.ModelWriter{Tenants: b.Tenants, Opener: open, Report: reporter, Egress: b.Egress, Clock: o.Clock},
			Gallery: b.Gallery, Library: b.Library, Addresses: b.Addresses, Terms: terms,
		}).Background(),
		(&subject.Teacher{Tenants: b.Tenants, Files: b.Files, Clock: o.Clock}).Background(),
		(&translation.Translator{Tenants: b.Tenants, Opener: open, Report: reporter, Egress: b.Egress, Clock: o.Clock}).Background(),
		job.Background{Tasks: widget.Tasks(d)},
		// What people learn.
		(&result.Scorer{Tenants: b.Tenants, Minds: m, Clock: o.Clock, Log: o.Log}).Background(),
		job.Background{Tasks: resourcelink.Tasks(d)},
		gradebook.New(gradebook.Options{Tenants: b.Tenants, Opener: open, Report: reporter, Egress: b.Egress, Sign: b.Registry.SignToken, Clock: o.Clock}).Background(),
		course.NewReader(course.Options{
			Tenants: b.Tenants, Opener: open, Report: reporter, Egress: b.Egress, Sign: b.Registry.SignToken, Terms: terms, Clock: o.Clock,
		}).Background(d),
		job.Background{Tasks: statement.Tasks(d)},
		(&recordstore.Teller{Tenants: b.Tenants, Opener: open, Report: reporter, Egress: b.Egress, Clock: o.Clock, Rests: dispatch.NewRests()}).Background(),
		(&report.Builder{Tenants: b.Tenants, Files: b.Files, Clock: o.Clock}).Background(),
		job.Background{Tasks: certificate.Tasks(d)},
		(&assignment.Worker{Tenants: b.Tenants, Outbox: outbox(b)}).Background(d),
		// Whom organizations hire.
		(&screening.Scorer{Tenants: b.Tenants}).Background(),
		(&candidate.Eraser{Silence: screening.Silence, Forget: voluntary.Forget}).Background(d),
		(&candidate.Reminders{Outbox: outbox(b)}).Background(d),
		voluntary.Background(d),
		(&ats.Teller{Tenants: b.Tenants, Opener: open, Report: reporter, Egress: b.Egress, Clock: o.Clock}).Background(),
		(&candidate.Anchorer{Signer: signer(b)}).Background(d),
		// Figures about all of it.
		job.Background{Tasks: dashboard.Tasks(d)},
		(&export.Exporter{Tenants: b.Tenants, Files: b.Files}).Background(),
		// People who are there, and who asks for them.
		job.Background{Tasks: (&agent.Catalogue{
			Options:   agent.Options{Tenants: b.Tenants, Minds: m, Clock: o.Clock, Organization: b.Organizations.Get, PortalURL: o.PageURL()},
			Directory: b.Directory, Plans: b.Plans,
		}).Tasks()},
		job.Background{Tasks: signin.Tasks(d)},
		(&memory.Writer{Tenants: b.Tenants, Minds: m, Clock: o.Clock, Log: o.Log}).Background(),
	)
}

// calendars keeps appointments in organizations' calendars.
func calendars(b *backend.Backend, m *minds.Minds) *appointment.Keeper {
	return appointment.New(appointment.Options{
		Tenants: b.Tenants, Opener: m.Connections, Report: m.Reporter, Egress: b.Egress, Tokens: connection.NewTokens(b.Tenants, b.Vault, b.Egress, b.Options.Clock),
		Clock: b.Options.Clock, Interviews: candidate.Letters{}, Rests: dispatch.NewRests(),
	})
}

// signer has candidates' records signed by the keys of their organizations.
func signer(b *backend.Backend) func(context.Context, id.Org) (hiringrecord.Signer, error) {
	return func(ctx context.Context, org id.Org) (hiringrecord.Signer, error) {
		which, private, err := b.Registry.Signer(ctx, org)
		return hiringrecord.Signer{ID: which, Private: private}, err
	}
}

// outbox takes mails, where any are sent.
func outbox(b *backend.Backend) *mailer.Outbox {
	if b.Options.Mail == nil {
		return nil
	}
	return &mailer.Outbox{Vault: b.Vault}
}

// readNothing is for processes that read no documents.
func readNothing(context.Context, string, int64, io.Reader) (extract.Document, error) {
	return extract.Document{}, errors.New("this process reads no documents")
}
