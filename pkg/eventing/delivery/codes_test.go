package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/hack/receiver/endpoint"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/webhook"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// rating is an event with conversation words: a rating's comment.
func rating() event.Draft {
	return event.Draft{Type: event.ConversationRated, Fields: map[string]any{"sessionId": "sess_1", "rating": 5}}
}

// comment is where the words of ratings come from.
func comment(d event.Detail, err error) event.Source {
	return func(context.Context, event.Event, bool) (event.Detail, error) { return d, err }
}

// Every error code, each made in the way it happens.
func TestErrorCodes(t *testing.T) {
	attempted := []delivery.Code{
		delivery.HTTPStatus, delivery.Redirect, delivery.Timeout, delivery.Network, delivery.AddressRefused, delivery.InternalError,
	}
	url := func(u string) func(*webhook.Webhook) { return func(h *webhook.Webhook) { h.URL = u } }
	seen := map[delivery.Code]bool{}
	for name, tc := range map[string]struct {
		code delivery.Code
		// does is how the receiver behaves, made alters the webhook before it is
		// entered; then changes it between the event and the attempt, and after is
		// what else happens there.
		does  endpoint.Behaviour
		made  func(*world) func(*webhook.Webhook)
		then  func(*world, *webhook.Webhook)
		after func(*world)
		draft []event.Draft
	}{
		"an error status":       {code: delivery.HTTPStatus, does: endpoint.Behaviour{Status: 404}},
		"not modified":          {code: delivery.HTTPStatus, does: endpoint.Behaviour{Status: 304}},
		"a redirect":            {code: delivery.Redirect, does: endpoint.Behaviour{Status: 302, Location: "/elsewhere"}},
		"no answer":             {code: delivery.Timeout, does: endpoint.Behaviour{Hang: true}},
		"a header in trickles":  {code: delivery.Timeout, does: endpoint.Behaviour{Trickle: 50 * time.Millisecond}},
		"a reset":               {code: delivery.Network, does: endpoint.Behaviour{Reset: true}},
		"a gigantic header":     {code: delivery.Network, does: endpoint.Behaviour{GiganticHeader: true}},
		"another's certificate": {code: delivery.Network, made: func(w *world) func(*webhook.Webhook) { return url(w.receiver.WrongURL("/hook")) }},
		"an old certificate":    {code: delivery.Network, made: func(w *world) func(*webhook.Webhook) { return url(w.receiver.ExpiredURL("/hook")) }},
		"an unknown authority":  {code: delivery.Network, made: func(w *world) func(*webhook.Webhook) { return url(w.receiver.UntrustedURL("/hook")) }},
		"nobody listens":        {code: delivery.Network, made: func(*world) func(*webhook.Webhook) { return url("https://127.0.0.1:9/hook") }},
		"a private address":     {code: delivery.AddressRefused, made: func(*world) func(*webhook.Webhook) { return url("https://10.0.0.1/hook") }},
		"an address of old":     {code: delivery.AddressRefused, made: func(*world) func(*webhook.Webhook) { return url("http://example.com/hook") }},
		"a fault of ours": {code: delivery.InternalError, draft: []event.Draft{rating()}, then: func(w *world, _ *webhook.Webhook) {
			w.options.Renderer.Sources[event.ConversationRated] = comment(event.Detail{}, errors.New("broken"))
		}},
		"a panic of ours": {code: delivery.InternalError, draft: []event.Draft{rating()}, then: func(w *world, _ *webhook.Webhook) {
			w.options.Renderer.Sources[event.ConversationRated] = func(context.Context, event.Event, bool) (event.Detail, error) { panic("broken") }
		}},
		"a lost key":   {code: delivery.InternalError, after: func(w *world) { w.exec(`UPDATE webhook SET secret = 'nonsense'`) }},
		"switched off": {code: delivery.WebhookInactive, then: func(_ *world, h *webhook.Webhook) { h.Active = false }},
		"paused": {code: delivery.WebhookPaused, then: func(w *world, h *webhook.Webhook) {
			now := w.now()
			h.Active, h.PausedAt = false, &now
		}},
		"unsubscribed": {code: delivery.Unsubscribed, then: func(_ *world, h *webhook.Webhook) { h.Events = []string{"unit.created"} }},
		"withdrawn by the noun": {code: delivery.Withdrawn, draft: []event.Draft{rating()}, then: func(w *world, _ *webhook.Webhook) {
			w.options.Renderer.Sources[event.ConversationRated] = comment(event.Detail{Standing: event.Withdrawn}, nil)
		}},
		"words no longer asked for": {
			code: delivery.Withdrawn, draft: []event.Draft{{Type: event.TranscriptFinal}},
			made: func(*world) func(*webhook.Webhook) {
				return func(h *webhook.Webhook) { h.Events, h.IncludeConversation = []string{"transcript.final"}, true }
			},
			then: func(_ *world, h *webhook.Webhook) { h.IncludeConversation = false },
		},
		"zero data retention": {
			code: delivery.Withdrawn, draft: []event.Draft{{Type: event.TranscriptFinal}},
			made: func(*world) func(*webhook.Webhook) {
				return func(h *webhook.Webhook) { h.Events, h.IncludeConversation = []string{"transcript.final"}, true }
			},
			after: func(w *world) {
				w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error {
					return setting.Set(ctx, tx, setting.ZeroRetention, true, "test", w.now())
				})
			},
		},
		"the subject is gone": {code: delivery.EventGone, draft: []event.Draft{rating()}, then: func(w *world, _ *webhook.Webhook) {
			w.options.Renderer.Sources[event.ConversationRated] = comment(event.Detail{Standing: event.Gone}, nil)
		}},
		"the event is gone": {code: delivery.EventGone, after: func(w *world) { w.exec(`DELETE FROM event`) }},
	} {
		seen[tc.code] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.receiver.Set("/hook", tc.does)
			made := func(*webhook.Webhook) {}
			if tc.made != nil {
				made = tc.made(w)
			}
			h := w.hook(w.one, "/hook", made)
			d := w.emit(w.one, tc.draft...)[0]
			if tc.then != nil {
				w.change(w.one, h, func(h *webhook.Webhook) { tc.then(w, h) })
			}
			if tc.after != nil {
				tc.after(w)
			}
			w.deliver()
			found, attempts := w.delivery(w.one, d)
			require.NotNil(t, found.Code)
			require.Equal(t, tc.code, *found.Code)
			if slices.Contains(attempted, tc.code) {
				require.Equal(t, delivery.Retrying, found.State)
				require.Len(t, attempts, 1)
				return
			}
			require.Equal(t, delivery.Failed, found.State, "it is closed")
			require.Nil(t, found.DueAt)
			require.Empty(t, attempts)
			require.Zero(t, w.receiver.Count("/hook").Requests)
		})
	}
	require.Len(t, seen, 11, "every code of the spec")
}

// What is wrong with an answer's body costs nothing: the answer is there.
// Nobody but the operator can bring a lost key back.
func TestALostKeyIsAnErrorInTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var log bytes.Buffer
	w.options.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	h := w.hook(w.one, "/hook")
	w.emit(w.one)
	w.emit(w.one)
	w.exec(`UPDATE webhook SET secret = 'nonsense'`)
	w.deliver()
	require.Equal(t, 1, strings.Count(log.String(), "secret cannot be opened"), log.String())
	require.Contains(t, log.String(), h.String())
}

func TestAnswersWithBadBodies(t *testing.T) {
	for name, does := range map[string]endpoint.Behaviour{
		"endless": {Endless: true}, "closed midway": {CloseMidway: true}, "another 2xx": {Status: 299}, "no content": {Status: 204},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.hook(w.one, "/hook")
			w.receiver.Set("/hook", does)
			d := w.emit(w.one)[0]
			began := time.Now()
			w.deliver()
			require.Less(t, time.Since(began), 20*time.Second)
			found, attempts := w.delivery(w.one, d)
			require.Equal(t, delivery.Delivered, found.State)
			require.Len(t, attempts, 1)
			require.Equal(t, "127.0.0.1", *attempts[0].Address)
		})
	}
}

// A receiver that asks for patience gets it, within the schedule.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(w.one, "/busy")
	w.receiver.Set("/busy", endpoint.Behaviour{Status: http.StatusTooManyRequests, RetryAfter: "240"})
	d := w.emit(w.one)[0]
	w.deliver()
	found, _ := w.delivery(w.one, d)
	require.Equal(t, w.now().Add(4*time.Minute), found.DueAt.UTC())
	w.clock.Step(4*time.Minute - time.Second)
	w.deliver()
	require.Equal(t, 1, w.receiver.Count("/busy").Requests)
	w.receiver.Set("/busy", endpoint.Behaviour{})
	w.clock.Step(time.Second)
	w.deliver()
	found, _ = w.delivery(w.one, d)
	require.Equal(t, delivery.Delivered, found.State)
}

// A webhook's own contract writes its bodies, and its headers.
func TestContracts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(w.one, "/old", func(h *webhook.Webhook) { h.APIVersion = contract.V20260708 })
	w.hook(w.one, "/new")
	for _, path := range []string{"/old", "/new"} {
		w.receiver.Set(path, endpoint.Behaviour{Secret: string(secret)})
	}
	w.options.Renderer.Sources[event.LeadCaptured] = comment(event.Detail{
		Fields: map[string]any{"contact.name": "Kim", "summary": "Wants a demo."}, ByAvatar: true,
	}, nil)
	deliveries := w.emit(w.one, event.Draft{Type: event.LeadCaptured, Fields: map[string]any{
		"inboxItemId": "inb_1", "portalId": "portal_0683mPq2v9XKf1sTn7ZQ4b", "leadBand": "hot",
	}})
	require.Len(t, deliveries, 2)
	w.deliver()

	young, old := w.receiver.Received("/new")[0], w.receiver.Received("/old")[0]
	require.True(t, young.Verified, young.Why)
	require.True(t, old.Verified, old.Why)
	require.Contains(t, young.DeliveryID, "whd_")
	require.NotContains(t, old.DeliveryID, "whd_")
	require.Equal(t, young.EventID, old.EventID)
	require.JSONEq(t, `{"id":"`+young.EventID+`","type":"lead.captured","apiVersion":"2026-10-01","organizationId":"`+w.one.String()+`",
		"createdAt":"`+w.now().Format(time.RFC3339Nano)+`","data":{
		"inboxItemId":"inb_1","sessionId":null,"portalId":"portal_0683mPq2v9XKf1sTn7ZQ4b","widgetId":null,"personaId":null,"leadBand":"hot",
		"state":null,"assigneeId":null,"contactConsent":null,"sourceUrl":null,"campaign":null,"language":null,"createdAt":null,"updatedAt":null,
		"contact":{"name":"Kim","email":null,"phone":null,"company":null,"preferredChannel":null},
		"need":null,"budget":null,"timeline":null,"answers":null,"summary":null}}`, string(young.Body),
		"conversation words are held back: the webhook did not ask for them")
	require.JSONEq(t, `{"id":"`+young.EventID+`","type":"lead.captured","createdAt":"`+w.now().Format(time.RFC3339Nano)+`","data":{
		"sessionId":null,"portalId":"0683mPq2v9XKf1sTn7ZQ4b","widgetId":null,"personaId":null,"leadScore":"hot",
		"state":null,"assigneeId":null,"contactConsent":null,"sourceUrl":null,"campaign":null,"language":null,"createdAt":null,"updatedAt":null,
		"name":"Kim","email":null,"phone":null,"company":null,"preferredChannel":null,
		"need":null,"budget":null,"timeline":null,"answers":null,"summary":null}}`, string(old.Body))
}

// Words are sent to a webhook that asked for them, and say who wrote them; a
// retry never carries what was erased since.
func TestARetryIsRebuilt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hook(w.one, "/words", func(h *webhook.Webhook) { h.IncludeConversation = true })
	w.receiver.Set("/words", endpoint.Behaviour{Status: 500})
	source := func(fields map[string]any) {
		w.options.Renderer.Sources[event.LeadCaptured] = comment(event.Detail{Fields: fields, ByAvatar: fields["summary"] != nil}, nil)
	}
	source(map[string]any{"contact.email": "kim@example.com", "summary": "Wants a demo."})
	w.emit(w.one, event.Draft{Type: event.LeadCaptured})
	w.deliver()
	first := string(w.receiver.Received("/words")[0].Body)
	require.Contains(t, first, `"summary":"Wants a demo."`)
	require.Contains(t, first, `"aiGenerated":true`)
	require.Contains(t, first, "kim@example.com")

	source(map[string]any{})
	w.clock.Step(time.Minute)
	w.deliver()
	second := string(w.receiver.Received("/words")[1].Body)
	require.NotContains(t, second, "Wants a demo.")
	require.NotContains(t, second, "aiGenerated")
	require.NotContains(t, second, "kim@example.com")
}

// While a secret's predecessor is good, both sign.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/rotated")
	w.inTx(w.one, func(ctx context.Context, tx *tenant.Tx) error {
		if _, err := webhook.Lock(ctx, tx, h); err != nil {
			return err
		}
		return webhook.Rotate(ctx, tx, w.options.Vault, h, "whsec_young", time.Hour, w.who())
	})
	w.receiver.Set("/rotated", endpoint.Behaviour{Secret: "whsec_young", PreviousSecret: string(secret)})
	w.emit(w.one)
	w.deliver()
	got := w.receiver.Received("/rotated")
	require.True(t, got[0].Verified, got[0].Why)
	require.NotEmpty(t, got[0].Header.Get("X-Service-Signature-Previous"))

	w.clock.Step(time.Hour)
	w.emit(w.one)
	w.deliver()
	got = w.receiver.Received("/rotated")
	require.True(t, got[1].Verified, got[1].Why)
	require.Empty(t, got[1].Header.Get("X-Service-Signature-Previous"))
}

// A webhook that moves to another contract does so from the next event.
func TestAMoveToAnotherContract(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hook(w.one, "/moving", func(h *webhook.Webhook) { h.APIVersion = contract.V20260708 })
	w.receiver.Set("/moving", endpoint.Behaviour{FailFirst: 1})
	w.emit(w.one)
	w.deliver()
	w.change(w.one, h, func(h *webhook.Webhook) { h.APIVersion = contract.Latest })
	w.clock.Step(time.Minute)
	w.deliver()
	w.emit(w.one)
	w.deliver()
	got := w.receiver.Received("/moving")
	require.Len(t, got, 3)
	for _, before := range got[:2] {
		require.NotContains(t, string(before.Body), "apiVersion")
	}
	require.Contains(t, string(got[2].Body), `"apiVersion":"2026-10-01"`)
}
