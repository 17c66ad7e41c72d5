package inbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/setting"
	"visavis.dev/pkg/store/tenant"
)

// handed is how the gateway's request was answered.
type handed struct {
	status       int
	result, code string
}

// gateway hands a mail over.
func gateway(t *testing.T, w *apitest.World, secret, envelope string, body []byte, kinds ...string) handed {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+"/inbox/inbound-mail", strings.NewReader(string(body)))
	require.NoError(t, err)
	r.Header.Set("Content-Type", append(kinds, "message/rfc822")[0])
	said, err := url.ParseQuery(envelope)
	require.NoError(t, err)
	for name, values := range said {
		r.Header.Set("Visavis-"+name, values[0])
	}
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	var told struct {
		Data  *struct{ Result string }
		Error *struct{ Code string }
	}
	require.NoError(t, json.Unmarshal(text, &told), "%s", text)
	h := handed{status: answer.StatusCode}
	if told.Data != nil {
		h.result = told.Data.Result
	}
	if told.Error != nil {
		h.code = told.Error.Code
	}
	return h
}

func answerMail(to, messageID, text string, heads ...string) []byte {
	all := append([]string{"From: Kim Lee <kim@example.com>", "To: Sales <" + to + ">", "Message-ID: <" + messageID + ">"}, heads...)
	return []byte(strings.Join(append(all, "", text, "", "On Monday, Sales wrote:", "> Hello."), "\r\n"))
}

// written is a lead that was written to, and where its visitor answers to.
func written(t *testing.T, w *apitest.World) (which, to string) {
	t.Helper()
	which = lead(t, w, nil)["id"].(string)
	sent := w.CallAs(t, "replyToInboxItem", which, w.Acme.New, map[string]any{"text": "Hello."})
	require.Equal(t, http.StatusCreated, sent.Status, "%s", sent.Raw)
	box := &postbox{}
	w.Post(t, box)
	require.Len(t, box.sent, 1)
	return which, box.sent[0].ReplyTo
}

func notes(item map[string]any) (all []map[string]any) {
	for _, one := range item["notes"].([]any) {
		all = append(all, one.(map[string]any))
	}
	return all
}

// What a visitor answers is added to the item once, opens it again, applies the rules, and belongs to the thread.
func TestAnAnswerComesBack(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	rule(t, w, "reply_received", nil, map[string]any{"urgency": "high", "addTags": []any{"answered"}})
	which, to := written(t, w)
	require.Regexp(t, `^[a-z2-7]{64}@answers\.example\.com$`, to)
	require.Equal(t, http.StatusOK, w.CallAs(t, "updateInboxItem", which, w.Acme.New, map[string]any{"state": "done"}).Status)

	body := answerMail(strings.ToUpper(to), "1@mx.example.com", "Yes, at ten.")
	require.Equal(t, handed{200, "added", ""}, gateway(t, w, apitest.InboundSecret, "", body))
	require.Equal(t, handed{200, "duplicate", ""}, gateway(t, w, apitest.InboundSecret, "", body))
	item := read(t, w, which, w.Acme.New)
	require.Equal(t, []any{"open", "high", []any{"answered"}}, []any{item["state"], item["urgency"], item["tags"]})
	thread := notes(item)
	require.Len(t, thread, 2)
	require.Equal(t, []any{"Hello.", "sent", "Yes, at ten.", "received", "visitor", "kim@example.com"},
		[]any{thread[0]["text"], thread[0]["direction"], thread[1]["text"], thread[1]["direction"], thread[1]["by"], thread[1]["from"]})
	without := notes(read(t, w, which, w.Scoped(contract.Latest, scope.InboxRead)))
	require.Equal(t, []any{"Hello.", nil}, []any{without[0]["text"], without[1]["text"]}, "what a visitor wrote needs transcripts:read")
	require.Len(t, histories(item), 1)
	told := w.Told(t, "lead.updated")
	require.Equal(t, "visitor", told[1].(map[string]any)["data"].(map[string]any)["changedBy"])

	// The next reply belongs to the same thread.
	require.Equal(t, http.StatusCreated, w.CallAs(t, "replyToInboxItem", which, w.Acme.New, map[string]any{"text": "Fine."}).Status)
	box := &postbox{}
	w.Post(t, box)
	require.Equal(t, []string{thread[0]["id"].(string), "1@mx.example.com"}, box.sent[0].References)
	require.Equal(t, to, box.sent[0].ReplyTo)

	// Another answer sets the rule off again; two that come at once are one.
	second := answerMail(to, "2@mx.example.com", "Thanks.")
	results := make([]handed, 2)
	var group sync.WaitGroup
	for n := range results {
		group.Go(func() { results[n] = gateway(t, w, apitest.InboundSecret, "", second) })
	}
	group.Wait()
	require.ElementsMatch(t, []string{"added", "duplicate"}, []string{results[0].result, results[1].result})
	item = read(t, w, which, w.Acme.New)
	require.Len(t, histories(item), 2)
	require.Len(t, notes(item), 4)
}

// Only the gateway hands mails over, only to addresses that were given out, and no machine's.
func TestMailsThatAreNotTaken(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	which, to := written(t, w)
	good := answerMail(to, "1@mx.example.com", "Yes.")
	for _, secret := range []string{"", "x", apitest.InboundSecret + "x", string(w.Acme.New)} {
		require.Equal(t, handed{401, "", "unauthorized"}, gateway(t, w, secret, "", good))
	}
	require.Equal(t, handed{415, "", "unsupported_media_type"}, gateway(t, w, apitest.InboundSecret, "", good, "text/html"))
	require.Equal(t, handed{415, "", "unsupported_media_type"}, gateway(t, w, apitest.InboundSecret, "", good, "application/json"))
	require.Equal(t, handed{400, "", "invalid_request"}, gateway(t, w, apitest.InboundSecret, "", []byte("\r\nno mail")))
	require.Equal(t, handed{413, "", "too_large"}, gateway(t, w, apitest.InboundSecret, "", make([]byte, 11<<20)))

	item, err := id.ParseInboxItem(which)
	require.NoError(t, err)
	forged := []byte(to)
	forged[60] = map[bool]byte{true: 'b', false: 'a'}[forged[60] == 'a']
	for name, address := range map[string]string{
		"a forged signature": string(forged), "another domain": strings.Replace(to, "answers.", "other.", 1), "too short": "a@answers.example.com",
		"another organization's": w.Answers.Address(w.Globex.ID, item), "no organization's": w.Answers.Address(id.NewOrg(), item), "nobody's": "sales@example.com",
	} {
		require.Equal(t, handed{404, "", "not_found"}, gateway(t, w, apitest.InboundSecret, "", answerMail(address, "2@mx.example.com", "Yes.")), name)
	}
	for _, head := range []string{"Auto-Submitted: auto-replied", "Precedence: bulk", "Return-Path: <>"} {
		require.Equal(t, handed{200, "ignored", ""}, gateway(t, w, apitest.InboundSecret, "", answerMail(to, "3@mx.example.com", "Away.", head)), head)
	}
	require.Equal(t, handed{200, "ignored", ""}, gateway(t, w, apitest.InboundSecret, "sender=%3C%3E", good))
	require.Equal(t, handed{200, "ignored", ""}, gateway(t, w, apitest.InboundSecret, "sender=MAILER-DAEMON", good))
	require.Len(t, notes(read(t, w, which, w.Acme.New)), 1, "nothing was added")

	// What the gateway says counts before the head, which anyone writes.
	envelope := url.Values{"recipient": {to}, "sender": {"kim@example.com"}}.Encode()
	require.Equal(t, handed{200, "added", ""}, gateway(t, w, apitest.InboundSecret, envelope, answerMail("sales@example.com", "4@mx.example.com", "Yes.")))
	for n := range 25 {
		gateway(t, w, apitest.InboundSecret, "", answerMail(to, fmt.Sprint(n, "@flood.example.com"), "Yes."))
	}
	require.Equal(t, handed{429, "", "rate_limited"}, gateway(t, w, apitest.InboundSecret, "", answerMail(to, "x@flood.example.com", "Yes.")))
	require.Len(t, notes(read(t, w, which, w.Acme.New)), 21)
	require.Equal(t, http.StatusCreated, w.CallAs(t, "noteInboxItem", which, w.Acme.New, map[string]any{"text": "Flooded."}).Status)
}

// Of a visitor who is forgotten no answer stays, and none is taken; of an organization that keeps nothing no words are.
func TestAnswersAreForgotten(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	which, to := written(t, w)
	body := answerMail(to, apitest.Mark+"@mx.example.com", "I am "+apitest.Mark)
	require.Equal(t, handed{200, "added", ""}, gateway(t, w, apitest.InboundSecret, "", body))
	require.NotEmpty(t, apitest.Marked(t, w))
	require.Equal(t, http.StatusOK, w.CallAs(t, "forgetInboxItem", which, w.Acme.New, nil).Status)
	w.ForgetVisitors(t)
	require.Empty(t, apitest.Marked(t, w))
	require.Equal(t, handed{410, "", "gone"}, gateway(t, w, apitest.InboundSecret, "", body))
	require.Empty(t, apitest.Marked(t, w), "nothing is stored")

	which, to = written(t, w)
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return setting.Set(ctx, tx, setting.ZeroRetention, true, "test", apitest.Moment())
	}))
	require.Equal(t, handed{200, "added", ""}, gateway(t, w, apitest.InboundSecret, "", answerMail(to, "5@mx.example.com", "I am "+apitest.Mark)))
	require.Empty(t, apitest.Marked(t, w))
	thread := notes(read(t, w, which, w.Acme.New))
	require.Equal(t, []any{"received", nil, nil}, []any{thread[1]["direction"], thread[1]["text"], thread[1]["from"]})
	require.Equal(t, http.StatusCreated, w.CallAs(t, "replyToInboxItem", which, w.Acme.New, map[string]any{"text": "Hello?"}).Status)
	box := &postbox{}
	w.Post(t, box)
	require.Empty(t, box.sent[0].ReplyTo, "answers go to the sender, where they are not lost")
}

// An answer that comes when the words of the conversation are gone is kept as long as those were, and no longer.
func TestLateAnswersAreNotKeptForEver(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return setting.Set(ctx, tx, setting.RetentionDays, int64(30), "test", apitest.Moment())
	}))
	which := w.Handoff(t, w.Acme)
	i, err := id.ParseInboxItem(which)
	require.NoError(t, err)
	s, err := id.ParseSession(read(t, w, which, w.Acme.New)["sessionId"].(string))
	require.NoError(t, err)
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return session.DeleteWords(ctx, tx, s, apitest.Moment())
	}))
	entered, err := id.ParseInboxItem(lead(t, w, nil)["id"].(string))
	require.NoError(t, err)
	for _, one := range []id.InboxItem{i, entered} {
		to := w.Answers.Address(w.Acme.ID, one)
		require.Equal(t, handed{200, "added", ""}, gateway(t, w, apitest.InboundSecret, "", answerMail(to, apitest.Mark+"@mx.example.com", "I am "+apitest.Mark)))
	}
	sweep := func(after time.Duration) {
		for _, shard := range []string{"shard-1", "shard-2"} {
			_, err := session.SweepAnswers(t.Context(), w.Tenants, shard, time.Now().Add(after))
			require.NoError(t, err)
		}
	}
	sweep(29 * 24 * time.Hour)
	require.NotEmpty(t, apitest.Marked(t, w))
	sweep(31 * 24 * time.Hour)
	w.ForgetVisitors(t)
	require.Empty(t, apitest.Marked(t, w))
	for _, one := range []id.InboxItem{i, entered} {
		thread := notes(read(t, w, one.String(), w.Acme.New))
		require.Len(t, thread, 1)
		require.Equal(t, []any{"received", nil, nil}, []any{thread[0]["direction"], thread[0]["text"], thread[0]["from"]}, "that it came stays")
		to := w.Answers.Address(w.Acme.ID, one)
		require.Equal(t, handed{200, "duplicate", ""}, gateway(t, w, apitest.InboundSecret, "", answerMail(to, apitest.Mark+"@mx.example.com", "Again")), "and counts once")
	}
	require.NotEmpty(t, w.Told(t, "visitor.detail_removed"))
}

// With the words of a conversation goes who an answer without words was from, and what its mail program called it.
func TestNothingOfAnAnswerStays(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	which := w.Handoff(t, w.Acme)
	i, err := id.ParseInboxItem(which)
	require.NoError(t, err)
	s, err := id.ParseSession(read(t, w, which, w.Acme.New)["sessionId"].(string))
	require.NoError(t, err)
	to := w.Answers.Address(w.Acme.ID, i)
	attached := "From: " + apitest.Mark + "@example.com\r\nTo: " + to + "\r\nMessage-ID: <1@" + apitest.Mark + ">\r\nContent-Type: application/pdf\r\n\r\nxxxx\r\n"
	require.Equal(t, handed{200, "added", ""}, gateway(t, w, apitest.InboundSecret, "", []byte(attached)))
	require.NotEmpty(t, apitest.Marked(t, w))
	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return session.DeleteWords(ctx, tx, s, apitest.Moment())
	}))
	w.ForgetVisitors(t)
	require.Empty(t, apitest.Marked(t, w))

	require.NoError(t, w.Tenants.InTx(t.Context(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		return setting.Set(ctx, tx, setting.ZeroRetention, true, "test", apitest.Moment())
	}))
	require.Equal(t, handed{200, "added", ""}, gateway(t, w, apitest.InboundSecret, "", []byte(strings.Replace(attached, "<1@", "<2@", 1))))
	require.Equal(t, handed{200, "duplicate", ""}, gateway(t, w, apitest.InboundSecret, "", []byte(strings.Replace(attached, "<1@", "<2@", 1))))
	require.Empty(t, apitest.Marked(t, w), "of zero retention nothing but that it came")
}

// Whatever a mail says that it is from, it is taken.
func TestHostileSenders(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	which, to := written(t, w)
	for name, from := range map[string]string{"nul": "\x00kim@example.com", "long": strings.Repeat("a", 50_000) + "@example.com", "bytes": "\xff\xfe@example.com"} {
		body := "From: " + from + "\r\nTo: " + to + "\r\nMessage-ID: <" + name + "@mx.example.com>\r\n\r\nHi\r\n"
		require.Equal(t, handed{200, "added", ""}, gateway(t, w, apitest.InboundSecret, "", []byte(body)), name)
	}
	for _, n := range notes(read(t, w, which, w.Acme.New))[1:] {
		require.Nil(t, n["from"])
	}
}
