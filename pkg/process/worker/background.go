package worker

import (
	"context"
	"errors"
	"io"

	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/personas/duo"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/letter"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/portals/person/roster"
	"visavis.dev/pkg/portals/setup"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/portals/translation"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/sessions/escalation"
	"visavis.dev/pkg/sessions/minds"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/idempotency"
	"visavis.dev/pkg/store/limits"
	"visavis.dev/pkg/store/sweep"
	"visavis.dev/pkg/text/crawl"
	"visavis.dev/pkg/text/extract"
	"visavis.dev/pkg/visits/memory"
	"visavis.dev/pkg/visits/signin"
)

// background puts together what the nouns declare: a line for each.
func background(b *backend.Backend, m *minds.Minds, read extract.Read) job.Background {
	o, d := b.Options, sweep.Deps{Tenants: b.Tenants, Clock: b.Options.Clock}
	terms, open, report := b.Organizations.Terms, m.Connections, m.Reporter
	fetch := crawl.New(b.Egress, o.Clock).Fetch
	if read == nil {
		read = readNothing
	}
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
		(&voice.Cloner{Tenants: b.Tenants, Files: b.Files, Opener: open, Report: report, Egress: b.Egress, Clock: o.Clock}).Background(),
		job.Background{Tasks: connection.Tasks(d)},
		(&knowledge.Reader{Tenants: b.Tenants, Files: b.Files, Fetch: fetch, Extract: read, Clock: o.Clock, Log: o.Log}).Background(),
		job.Background{Tasks: persona.Tasks(d)},
		job.Background{Tasks: duo.Tasks(d)},
		// What is said.
		job.Background{Tasks: session.Tasks(d)},
		job.Background{Tasks: escalation.Tasks(d)},
		(&rehearsal.Rehearser{Tenants: b.Tenants, Files: b.Files, Minds: m, Clock: o.Clock, Log: o.Log}).Background(),
		// Places that are open to people.
		job.Background{Tasks: b.Addresses.Tasks()},
		(&letter.Writer{Tenants: b.Tenants, Vault: b.Vault, Sender: o.Mail, PortalURL: o.PageURL(), Clock: o.Clock, Log: o.Log}).Background(),
		(&person.Eraser{Files: b.Files, Forget: memory.ForgetPerson}).Background(d),
		roster.NewImporter(b.Tenants, b.Files, terms).Background(),
		(&setup.Builder{
			Sources: setup.Sources{Tenants: b.Tenants, Fetch: fetch, Extract: read},
			Scribe:  &setup.ModelWriter{Tenants: b.Tenants, Opener: open, Report: report, Egress: b.Egress, Clock: o.Clock},
			Gallery: b.Gallery, Library: b.Library, Addresses: b.Addresses, Terms: terms,
		}).Background(),
		(&subject.Teacher{Tenants: b.Tenants, Files: b.Files, Clock: o.Clock}).Background(),
		(&translation.Translator{Tenants: b.Tenants, Opener: open, Report: report, Egress: b.Egress, Clock: o.Clock}).Background(),
		job.Background{Tasks: widget.Tasks(d)},
		// People who are there.
		job.Background{Tasks: signin.Tasks(d)},
		(&memory.Writer{Tenants: b.Tenants, Minds: m, Clock: o.Clock, Log: o.Log}).Background(),
	)
}

// readNothing is for processes that read no documents.
func readNothing(context.Context, string, int64, io.Reader) (extract.Document, error) {
	return extract.Document{}, errors.New("this process reads no documents")
}
