package notify_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/slack/slacktest"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/store/tenant"
)

const page = "https://people.example.com/inbox/{itemId}"

// Each item is one message, with how to reach the visitor and nothing that they said.
func TestAnItemIsOneMessage(t *testing.T) {
	b, s := newSlack(t, connection.Config{"itemUrl": page})
	lead := b.leaves(inbox.Lead, func(i *inbox.Item) { i.Contact.Name = new("Kim <!channel> & <https://evil.example|Lee>") })
	b.tell()
	b.change(lead.ID, state(inbox.Open))
	b.note(lead.ID, "A note")
	b.clock.Step(time.Hour)
	b.tell()
	require.Len(t, s.Messages(), 1)
	m := s.Messages()[0]
	require.Equal(t, "New lead: Kim &lt;!channel&gt; &amp; &lt;https://evil.example|Lee&gt;", m.Text)
	words := m.Words()
	require.Contains(t, words, "Kim &lt;!channel&gt;")
	require.Contains(t, words, "kim@example.com")
	require.Contains(t, words, "<https://people.example.com/inbox/"+lead.ID.String()+"|Open>")
	require.Contains(t, words, lead.ID.String())
	require.NotContains(t, m.Raw, "guide")
	for _, block := range m.Blocks {
		for _, f := range block.Fields {
			require.Equal(t, f.Type == "mrkdwn", f.Verbatim)
		}
	}
	require.Empty(t, b.untold())
}

// Which kinds are told is the config's, and whether the visitor is named.
func TestWhatAChatIsTold(t *testing.T) {
	b, s := newSlack(t, connection.Config{"tells": []any{"handoff"}, "withoutContact": true, "includeConversation": true})
	b.leaves(inbox.Lead)
	b.summary = new("They asked for a guide.")
	b.leaves(inbox.Handoff, func(i *inbox.Item) {
		i.Words.Reason = new("Angry\u202e & tired")
		i.Words.Answers = []inbox.Answer{{Question: "Size?", Answer: "20"}}
	})
	b.tell()
	require.Len(t, s.Messages(), 1)
	words := s.Messages()[0].Words()
	require.Contains(t, words, "A visitor asks for a person")
	require.NotContains(t, words, "Kim")
	require.NotContains(t, words, "kim@")
	for _, told := range []string{"A guide &lt;b&gt;for&lt;/b&gt; 20 &amp; more", "Angry &amp; tired", "*Size?*\n20", "*Summary (written by an AI)*\nThey asked for a guide."} {
		require.Contains(t, words, told)
	}

	// Words that may not be sent are not, and none are while the organization keeps none.
	b.told = false
	b.leaves(inbox.Handoff)
	b.clock.Step(time.Minute)
	b.tell()
	b.told = true
	b.zeroRetention()
	b.leaves(inbox.Handoff)
	b.clock.Step(time.Minute)
	b.tell()
	require.Len(t, s.Messages(), 3)
	for _, m := range s.Messages()[1:] {
		require.NotContains(t, m.Raw, "guide")
		require.NotContains(t, m.Raw, "Summary")
	}
}

// A visitor who did not agree when asked is not named, and of one who is forgotten nothing is told.
func TestVisitorsWhoObject(t *testing.T) {
	b, s := newSlack(t, nil)
	b.leaves(inbox.Lead, func(i *inbox.Item) { i.Contact.Consent = &inbox.Consent{} })
	b.tell()
	require.Len(t, s.Messages(), 1)
	require.Equal(t, "New lead", s.Messages()[0].Text)
	require.NotContains(t, s.Messages()[0].Raw, "Kim")
	require.NotContains(t, s.Messages()[0].Raw, "kim")
	gone := b.leaves(inbox.Lead)
	b.forget(gone.ID)
	done := b.leaves(inbox.Lead)
	b.change(done.ID, state(inbox.Done))
	b.clock.Step(time.Minute)
	b.tell()
	require.Len(t, s.Messages(), 1)
	require.Empty(t, b.untold())
	require.Empty(t, b.queued())
}

// Hostile and endless words stay within the bounds of blocks.
func TestLongWords(t *testing.T) {
	b, s := newSlack(t, connection.Config{"includeConversation": true})
	long := strings.Repeat("&<>", 5000)
	b.leaves(inbox.Lead, func(i *inbox.Item) {
		i.Contact.Name, i.Contact.Company, i.Contact.JobTitle, i.Contact.Phone = &long, &long, &long, &long
		i.Words = inbox.Words{Need: &long, Reason: &long}
		for range 30 {
			i.Words.Answers = append(i.Words.Answers, inbox.Answer{Question: long, Answer: long})
		}
	})
	b.tell()
	require.Len(t, s.Messages(), 1)
	require.NotContains(t, s.Messages()[0].Words(), "&l…", "no escape is broken")

	c, teams := newTeams(t, connection.Config{"includeConversation": true})
	wide := strings.Repeat("語", 5000)
	c.leaves(inbox.Lead, func(i *inbox.Item) {
		i.Contact.Name, i.Words.Need = &wide, &wide
		for range 30 {
			i.Words.Answers = append(i.Words.Answers, inbox.Answer{Question: wide, Answer: wide})
		}
	})
	c.tell()
	require.Len(t, teams.Cards(), 1)
}

// A name is one line of plain text, which looks like no other fact.
func TestANameThatForgesAFact(t *testing.T) {
	b, s := newSlack(t, nil)
	b.leaves(inbox.Lead, func(i *inbox.Item) { i.Contact.Name = new("Kim\n*Band*\nhot") })
	b.tell()
	require.Len(t, s.Messages(), 1)
	var found bool
	for _, block := range s.Messages()[0].Blocks {
		for _, f := range block.Fields {
			if strings.Contains(f.Text, "hot") {
				found = true
				require.Equal(t, "plain_text", f.Type)
				require.Equal(t, "Kim *Band* hot", f.Text)
			}
		}
	}
	require.True(t, found)
}

// While an older webhook is let live on, nothing goes into its channel.
func TestAnOlderWebhook(t *testing.T) {
	b, s := newSlack(t, nil)
	b.clock.Step(2 * time.Second)
	b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
		c, err := connection.Lock(ctx, tx, b.connection)
		if err != nil {
			return err
		}
		_, err = connection.Rotate(ctx, tx, b.vault, c, connection.Secret(s.URL+"/services/T0/B0/gone"), time.Hour, b.who())
		return err
	})
	b.leaves(inbox.Lead)
	b.tell()
	require.Empty(t, s.Messages())
	require.Equal(t, 1, b.failures())
}

// A chat that takes no message of this program's fails.
func TestAChatThatTakesNothing(t *testing.T) {
	b, s := newSlack(t, nil)
	for range 3 {
		s.Behave(says(http.StatusBadRequest, "invalid_blocks"))
		b.leaves(inbox.Lead)
		b.tell()
	}
	require.Equal(t, 3, s.Calls())
	require.Equal(t, 1, b.failures())
}

// Teams gets a card whose words are runs, in which no markdown is read.
func TestACard(t *testing.T) {
	b, s := newTeams(t, connection.Config{"itemUrl": page, "includeConversation": true})
	lead := b.leaves(inbox.Lead, func(i *inbox.Item) { i.Contact.Name = new("[Kim](https://evil.example)") })
	b.tell()
	require.Len(t, s.Cards(), 1)
	c := s.Cards()[0]
	require.Equal(t, "1.4", c.Version)
	require.Equal(t, "https://people.example.com/inbox/"+lead.ID.String(), c.Actions[0].URL)
	require.Contains(t, c.Words(), "Name: [Kim](https://evil.example)")
	require.Contains(t, c.Words(), "Need: A guide <b>for</b> 20 & more")
	for _, block := range c.Body {
		if block.Type == "TextBlock" {
			require.Equal(t, "New lead", block.Text)
		}
	}
}

// Messages to a channel are a second apart, and Retry-After is honored by all of them.
func TestAChannelTakesAMessageASecond(t *testing.T) {
	b, s := newSlack(t, nil)
	for range 4 {
		b.leaves(inbox.Lead)
	}
	b.tell()
	require.Len(t, s.Messages(), 1)
	for n := 2; n <= 4; n++ {
		b.clock.Step(time.Second)
		b.tell()
		require.Len(t, s.Messages(), n)
	}
	b.clock.Step(time.Minute)
	s.Behave(status(http.StatusTooManyRequests, "Retry-After", "30"))
	b.leaves(inbox.Lead)
	b.leaves(inbox.Lead)
	b.tell()
	require.Len(t, s.Messages(), 4)
	require.Equal(t, 5, s.Calls())
	b.clock.Step(29 * time.Second)
	b.tell()
	require.Equal(t, 5, s.Calls())
	b.tellFor(time.Minute)
	require.Len(t, s.Messages(), 6)
}

// A webhook that is there no more fails the connection at once, and what it was to be told is told by the next one.
func TestAWebhookThatIsGone(t *testing.T) {
	for _, gone := range []http.HandlerFunc{says(http.StatusNotFound, "no_service"), says(http.StatusGone, "channel_is_archived"), says(http.StatusForbidden, "action_prohibited")} {
		b, s := newSlack(t, nil)
		s.Behave(gone)
		b.leaves(inbox.Lead)
		b.tell()
		require.Equal(t, 1, b.failures())
		require.Equal(t, []string{""}, b.untold(), "it waits")
		b.settle(s.Hook())
		b.tell()
		require.Len(t, s.Messages(), 1)
	}
	// Also what was given up, if it is still to be dealt with.
	b, s := newSlack(t, nil)
	b.settle(s.URL + "/services/T0/B0/gone")
	lead, done := b.leaves(inbox.Lead), b.leaves(inbox.Lead)
	b.tellFor(7 * 24 * time.Hour) // which of both is told next takes a step of it
	require.Equal(t, []string{"refused", "refused"}, b.untold())
	require.Empty(t, b.queued())
	b.change(done.ID, state(inbox.Done))
	b.settle(s.Hook())
	b.tellFor(time.Minute)
	require.Len(t, s.Messages(), 1)
	require.Contains(t, s.Messages()[0].Raw, lead.ID.String())
	require.Empty(t, b.untold())
}

// What is no answer of a chat is none, and says nothing of the message.
func TestHostileAnswers(t *testing.T) {
	b, s := newSlack(t, nil)
	s.Behave(
		says(http.StatusOK, "<html>Sign in</html>"), status(http.StatusFound, "Location", "https://169.254.169.254/"), status(http.StatusInternalServerError),
		says(http.StatusOK, strings.Repeat("x", 5<<20)))
	b.leaves(inbox.Lead)
	b.tellFor(time.Hour)
	require.Len(t, s.Messages(), 1)
	require.Equal(t, 5, s.Calls())

	c, teams := newTeams(t, nil)
	teams.Behave(
		says(http.StatusOK, "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId x"),
		says(http.StatusOK, "<html>Sign in</html>"), status(http.StatusTooManyRequests, "Retry-After", "5"),
		says(http.StatusBadRequest, `{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"…"}}`))
	c.leaves(inbox.Lead)
	c.tellFor(time.Hour)
	require.Len(t, teams.Cards(), 1)

	// One that a chat does not take is told no more, and by itself fails no connection.
	s.Behave(says(http.StatusBadRequest, "invalid_blocks"))
	b.leaves(inbox.Lead)
	before := b.failures()
	b.tellFor(time.Hour)
	require.Equal(t, []string{"rejected"}, b.untold())
	require.Equal(t, before, b.failures())
}

// A process that ends between the call and the commit tells a chat again: that cannot be excluded.
func TestACrashAfterAMessage(t *testing.T) {
	b, s := newSlack(t, nil)
	b.leaves(inbox.Lead)
	b.prepare(b.queued()[0])
	require.Len(t, s.Messages(), 1)
	b.clock.Step(time.Minute)
	b.tell()
	require.Len(t, s.Messages(), 2)
	b.tellFor(time.Hour)
	require.Len(t, s.Messages(), 2)
}

// A chat that is switched off is told nothing of what comes meanwhile, and of what came before once it is on.
func TestAChatThatIsSwitchedOff(t *testing.T) {
	b, s := newSlack(t, nil)
	before := b.leaves(inbox.Lead)
	enable := func(on bool) {
		b.clock.Step(2 * time.Second)
		b.inTx(func(ctx context.Context, tx *tenant.Tx) error {
			c, err := connection.Lock(ctx, tx, b.connection)
			if err != nil {
				return err
			}
			_, err = connection.Configure(ctx, tx, b.vault, c, connection.Change{Enabled: &on}, b.who())
			return err
		})
		b.clock.Step(2 * time.Second)
	}
	enable(false)
	b.tell()
	b.leaves(inbox.Lead)
	require.Empty(t, s.Messages())
	enable(true)
	b.tell()
	require.Len(t, s.Messages(), 1)
	require.Contains(t, s.Messages()[0].Raw, before.ID.String())
}

// An address that is no chat's is never called, whatever is in the database.
func TestAnAddressThatIsNoChats(t *testing.T) {
	s := slacktest.Start()
	t.Cleanup(s.Close)
	b := newBench(t, guardOf(nil, s.Roots()))
	b.connect(connection.Chat, connection.Slack, nil, connection.Secret(s.Hook()))
	b.leaves(inbox.Lead)
	b.tell()
	require.Zero(t, s.Calls())
	c, err := connection.Get(t.Context(), b.tenants, b.org, b.connection)
	require.NoError(t, err)
	require.Equal(t, b.connection, c.ID)
	require.Equal(t, 0, b.failures())
}
