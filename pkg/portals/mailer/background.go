package mailer

import (
	"time"

	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/store/sweep"
)

// Background is what workers do for mails.
func (w *Worker) Background() job.Background {
	d := sweep.Deps{Tenants: w.Tenants, Clock: w.Clock}
	return job.Background{
		Works: map[job.Kind]job.Work{job.MailSend: w.Work(), job.HiringMail: w.Work(), job.CalendarSend: {Prepare: w.sendInvitation}, job.InboxMail: {Prepare: w.tell}},
		Tasks: []sweep.Task{
			{Name: "forget links that were mailed", Every: 10 * time.Minute, Batch: SweepBatch, Run: d.Dated(Sweep)},
		},
	}
}
