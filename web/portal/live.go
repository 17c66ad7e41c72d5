package portal

import (
	"context"
	"net/http"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/widget"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/answer"
	"visavis.dev/pkg/visits/live"
	"visavis.dev/pkg/visits/memory"
)

// newLive makes what holds live conversations. relays is what the processes know each
// other's sockets by.
func (s *Server) newLive(relays []byte) *live.Server {
	b, m := s.options.Backend, s.options.Minds
	go answer.Load() // before the first visitor speaks
	return live.New(live.Options{
		Tenants: b.Tenants, Shards: b.ShardNames, Address: s.options.Address, Secret: relays, PublicURL: b.Options.PublicURL,
		Clock: b.Options.Clock, Log: b.Options.Log, Metrics: b.Options.Metrics,
		Organization: b.Organizations.Get,
		Persona: func(ctx context.Context, org id.Org, p id.Persona, version int64) (string, persona.Definition, error) {
			v, err := persona.GetVersion(ctx, b.Tenants, org, p, version)
			return v.Name, v.Definition, err
		},
		Files: b.Files, RTC: s.rtc,
		Voice: s.voice, Recognition: s.recognition,
		Minds: m,
		Gap:   recordGap,
		Media: m.Connections.Open, MediaOutcome: m.Reporter.Report, Egress: b.Egress, Rendering: s.rendering, Freshen: s.calendars.Freshen,
		Notice: s.notice,
		Recall: func(ctx context.Context, org id.Org, of session.Session) ([]string, error) {
			return memory.Recall(ctx, b.Tenants, org, of, b.Options.Clock.Now().UTC())
		},
	})
}

// voice is what a session is said aloud with. A voice that was deleted meanwhile is
// replaced by one that sounds alike.
func (s *Server) voice(ctx context.Context, org id.Org, which id.Voice) (live.Voice, error) {
	v, err := voice.Get(ctx, s.options.Backend.Tenants, org, which)
	if err != nil && !errdefs.IsAbsent(err, voice.Noun) {
		return live.Voice{}, err
	}
	speaks, err := s.options.Minds.Speaker(ctx, org, v, s.options.Front.Options.Speaker, true)
	if err != nil {
		// What is said can be read, and what is built in says it.
		s.options.Backend.Options.Log.WarnContext(ctx, "failed to open the connection that speaks", "voice", which.String(), "error", err)
		speaks = s.options.Front.Options.Speaker
	}
	return live.Voice{Speaker: speaks, In: v.Request, Pace: v.Pace}, nil
}

// notice is where the privacy notice is that the users of a session are shown: their widget's, or
// their portal's as it is published.
func (s *Server) notice(ctx context.Context, org id.Org, of session.Session) (string, error) {
	tenants := s.options.Backend.Tenants
	if !of.Widget.IsZero() {
		w, err := widget.Get(ctx, tenants, org, of.Widget)
		if err != nil || w.Definition.PrivacyURL == nil {
			return "", err
		}
		return *w.Definition.PrivacyURL, nil
	}
	if of.Portal.IsZero() {
		return "", nil
	}
	var url string
	err := tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		p, err := portal.Find(ctx, tx, of.Portal)
		if err != nil || p.PublishedVersion == nil {
			return err
		}
		v, err := portal.FindVersion(ctx, tx, p.ID, *p.PublishedVersion)
		if err == nil && v.Definition.Privacy.PrivacyURL != nil {
			url = *v.Definition.Privacy.PrivacyURL
		}
		return err
	})
	return url, err
}

// countSockets serves the sockets behind the limit of the caller's address. What another
// process brings was counted there: all of it comes from one address.
func (s *Server) countSockets() http.Handler {
	counted := s.service.Sockets(s.live)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.live.Relayed(r) {
			s.live.ServeHTTP(w, r)
			return
		}
		counted.ServeHTTP(w, r)
	})
}

// recordGap notes a question that the packs do not answer.
func recordGap(ctx context.Context, tx *tenant.Tx, q live.Question) error {
	zero, err := setting.On(ctx, tx, setting.ZeroRetention)
	if err != nil {
		return err
	}
	_, err = knowledge.RecordGap(ctx, tx, knowledge.Question{
		Bases: q.Bases, Persona: q.Session.Persona, Session: q.Session.ID, Language: q.Language, Text: q.Text, At: q.At,
		Withheld: !q.Session.WordsTold(),
	}, !zero && q.Session.WordsRead())
	return err
}
