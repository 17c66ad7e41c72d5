package conversation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/personas/persona"
	"visavis.dev/pkg/personas/tool"
	"visavis.dev/pkg/provider/model"
	"visavis.dev/pkg/provider/model/modeltest"
	"visavis.dev/pkg/sessions/session"
)

// A model asks the client, and answers by what it was told, in every knowledge mode. The client
// is the visitor's: what it says makes no promise of the organization's.
func TestAModelUsesAToolOfTheClient(t *testing.T) {
	for _, mode := range []string{strict, prefer, "open"} {
		config, s := served(t, modeltest.InTurn(asking("weather", `{"place":"Bern"}`), modeltest.Stream("It is sunny in Bern, at 21 degrees.")), func(c *Config) {
			weather(nil)(c)
			c.Persona.Knowledge.Mode = mode
		})
		k := hold(t, config, answersWith(`{"sky":"sunny","degrees":21}`), "What is the weather in Bern?")
		require.Equal(t, []string{"user: What is the weather in Bern?", "avatar: It is sunny in Bern, at 21 degrees."}, k.said(), mode)
		require.Equal(t, []string{"weather completed"}, k.used())
		if g := k.turns[1].Grounded; g != nil {
			require.False(t, *g)
		}
		require.Len(t, k.calls, 1)
		require.Equal(t, map[string]any{"place": "Bern"}, k.calls[0].Arguments)
		require.Equal(t, []ToolUse{{"weather", requested}, {"weather", completed}}, k.uses)
		asked := s.Requests()
		require.Len(t, asked, 2)
		require.Contains(t, asked[0].Body, "tools")
		require.Contains(t, asked[1].Messages[len(asked[1].Messages)-1].Content, `"degrees":21`)
	}
}

// What the tool did not say is not said in the strict mode.
func TestAModelInventsAToolsAnswer(t *testing.T) {
	config, _ := served(t, modeltest.InTurn(asking("weather", `{"place":"Bern"}`), modeltest.Stream("It is sunny in Bern, at 30 degrees.")), func(c *Config) {
		weather(nil)(c)
		c.Persona.Knowledge.Mode = strict
	})
	k := hold(t, config, answersWith(`{"sky":"sunny","degrees":21}`), "What is the weather in Bern?")
	require.NotContains(t, strings.Join(k.said(), "\n"), "30")
}

// What a tool did may be told in a sentence of the model's own; what rests on nothing may not.
func TestWhatAToolDidMayBeTold(t *testing.T) {
	config, _ := served(t, modeltest.InTurn(asking("weather", `{"place":"Bern"}`), modeltest.Stream("Here it is on the screen. We also give away free bread every day.")), func(c *Config) {
		weather(nil)(c)
		c.Persona.Knowledge.Mode = strict
	})
	k := hold(t, config, answersWith(`{"shown":true}`), "What is the weather in Bern?")
	require.Equal(t, "avatar: Here it is on the screen.", k.said()[1])
}

// Whatever is wrong with a call or its answer, the model is told of it, and the visitor
// gets an answer.
func TestCallsThatGoWrong(t *testing.T) {
	fails := func(c *Conversation, call FunctionCall) {
		c.Receive(ClientMessage{Type: FunctionCallResult, Call: call.ID, Failure: "no such place"})
	}
	for name, test := range map[string]struct {
		asks   modeltest.Behaviour
		client func(*Conversation, FunctionCall)
		told   string
		used   []string
	}{
		"no such tool":        {asking("refund", `{}`), nil, "no tool of this name", nil},
		"no JSON":             {asking("weather", `{"place":`), nil, "not JSON", nil},
		"arguments missing":   {asking("weather", `{}`), nil, "place", nil},
		"the client fails":    {asking("weather", `{"place":"Bern"}`), fails, "no such place", []string{"weather failed"}},
		"the client is mute":  {asking("weather", `{"place":"Bern"}`), nil, "did not answer in time", []string{"weather failed"}},
		"an endless answer":   {asking("weather", `{"place":"Bern"}`), answersWith(`"` + strings.Repeat("x", 9000) + `"`), "too long to be told", []string{"weather completed"}},
		"a result of another": {asking("weather", `{"place":"Bern"}`), func(c *Conversation, _ FunctionCall) { answersWith(`"sun"`)(c, FunctionCall{ID: "x"}) }, "did not answer in time", []string{"weather failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			config, s := served(t, modeltest.InTurn(test.asks, modeltest.Stream("I am sorry, I could not find that out.")), func(c *Config) {
				weather(map[string]any{"timeoutMs": 150})(c)
				c.Persona.Knowledge.Mode = "open"
			})
			k := hold(t, config, test.client, "What is the weather in Bern?")
			require.Equal(t, "avatar: I am sorry, I could not find that out.", k.said()[1])
			require.Equal(t, test.used, k.used())
			asked := s.Requests()
			require.Contains(t, asked[len(asked)-1].Messages[len(asked[len(asked)-1].Messages)-1].Content, test.told)
		})
	}
}

// A model that asks for tools again and again is given none in the end.
func TestAModelThatOnlyUsesTools(t *testing.T) {
	config, s := served(t, asking("weather", `{"place":"Bern"}`), weather(nil))
	k := hold(t, config, answersWith(`"sun"`), "What is the weather in Bern?")
	asked := s.Requests()
	require.Len(t, asked, maxRounds+1)
	require.Contains(t, asked[1].Body, "tools")
	require.NotContains(t, asked[maxRounds].Body, "tools")
	require.Len(t, k.calls, maxRounds)
	require.Equal(t, "avatar: "+bookOf("en").noted, k.said()[1])
}

// What the visitor is to be asked about is done once they said yes, and once only.
func TestAToolThatNeedsTheVisitorsLeave(t *testing.T) {
	for answer, want := range map[string]struct {
		used []string
		told string
	}{
		"yes please":            {[]string{"weather completed"}, `"sun"`},
		"no":                    {[]string{"weather declined"}, ""},
		"When does it open?":    {nil, ""},
		"please tell me a joke": {nil, ""},
	} {
		t.Run(answer, func(t *testing.T) {
			config, s := served(t, modeltest.InTurn(asking("weather", `{"place":"Bern"}`), modeltest.Stream("Here you go.")), weather(map[string]any{"confirm": "visitor"}))
			k := hold(t, config, answersWith(`"sun"`), "What is the weather in Bern?", answer, "yes")
			require.Equal(t, "avatar: Look up the weather: place Bern. Is that right?", k.said()[1])
			require.Equal(t, want.used, k.used())
			if want.told == "" {
				require.Empty(t, k.calls)
				return
			}
			last := s.Requests()[1].Messages
			require.Contains(t, last[len(last)-1].Content, want.told)
			require.Equal(t, "avatar: Here you go.", k.said()[3])
			require.LessOrEqual(t, len(k.calls), 1)
		})
	}
}

// The built-in tools do for a model what they do without one.
func TestAModelUsesTheBuiltInTools(t *testing.T) {
	t.Run("lead", func(t *testing.T) {
		config, s := served(t, modeltest.InTurn(
			asking("lead", `{"name":"Kim","email":"not one"}`), modeltest.Stream("May I have your e-mail address?"),
			asking("lead", `{"name":"Kim","email":"kim@example.com","message":"wants cakes"}`), modeltest.Stream("Thank you, Kim."),
		), tools("lead"))
		k := hold(t, config, nil, "I am Kim and I want cakes, call me", "kim@example.com", "yes")
		require.Equal(t, []string{"lead completed"}, k.used())
		require.Contains(t, k.said(), "avatar: "+bookOf("en").reach+": email kim@example.com, message wants cakes, name Kim. Is that right?")
		asked := s.Requests()
		require.Contains(t, asked[1].Messages[len(asked[1].Messages)-1].Content, "email is not valid")
		require.Contains(t, asked[3].Messages[len(asked[3].Messages)-1].Content, "passed on")
	})
	t.Run("handoff", func(t *testing.T) {
		config, _ := served(t, modeltest.InTurn(asking("handoff", `{}`), modeltest.Stream("A colleague will be with you soon.")), tools("handoff"))
		k := hold(t, config, nil, "This bread was mouldy and I am upset about it")
		require.Equal(t, []string{"handoff requested"}, k.used())
		require.Equal(t, "avatar: A colleague will be with you soon.", k.said()[1])
	})
	t.Run("end of the session", func(t *testing.T) {
		config, _ := served(t, modeltest.InTurn(asking("end_session", `{}`), modeltest.Stream("")), tools("end_session"))
		k := hold(t, config, nil, "that was all I wanted to know about bread for today", "never heard")
		require.Equal(t, []string{"end_session completed"}, k.used())
		require.Equal(t, EndedByUser, k.ended)
		require.Len(t, k.said(), 2)
	})
	t.Run("switched off", func(t *testing.T) {
		config, s := served(t, modeltest.Stream("Hello."), func(c *Config) {
			tools("handoff")(c)
			c.Persona.Tools[0].Enabled = false
		})
		hold(t, config, nil, "This bread was mouldy and I am upset about it")
		require.NotContains(t, s.Requests()[0].Body, "tools")
	})
}

// Nobody's question and no rehearsal has an effect.
func TestNoToolIsUsedWhereNothingIsToHappen(t *testing.T) {
	config, s := served(t, modeltest.InTurn(asking("weather", `{"place":"Bern"}`), modeltest.Stream("Done.")), weather(nil))
	r := Rehearse(t.Context(), config, []string{"What is the weather in Bern?"})
	require.Equal(t, []ToolUse{{"weather", completed}}, r.Tools)
	require.Contains(t, s.Requests()[1].Messages[3].Content, "In a rehearsal nothing is done")

	config, s = served(t, modeltest.Stream("I do not know."), weather(nil))
	_, err := Ask(t.Context(), config, "What is the weather in Bern?")
	require.NoError(t, err)
	require.NotContains(t, s.Requests()[0].Body, "tools")
}

// A yes that is none, or is one to something else, uses no tool.
func TestOnlyAYesToTheQuestionUsesATool(t *testing.T) {
	for language, answers := range map[string][]string{
		"en": {"absolutely not", "not yes", "yes?", "is it yes?", "if I said yes", "yes later", "yes, I'm here", "correct not", "yes never", "hardly yes"},
		"de": {"genau nicht", "gerne nicht", "ja, abbrechen", "ja niemals"},
		"nl": {"natuurlijk niet"}, "ar": {"ليس صحيح"}, "zh": {"对吗", "是吗", "不对"}, "da": {"ja tak nej"}, "fr": {"oui jamais", "exactement pas"}, "tr": {"evet mi"},
	} {
		for _, answer := range answers {
			require.False(t, affirms(language, answer), "%s: %s", language, answer)
		}
	}
	for language, answers := range map[string][]string{
		"en": {"yes", "Yes!", "yes please", "ok", "sure, thanks", "yes, that's right", "yes yes yes"}, "de": {"ja", "Ja bitte", "ja, das stimmt"}, "fr": {"oui, s'il vous plaît"}, "zh": {"是的", "好的，谢谢"}, "ja": {"はい、お願いします"}, "ar": {"نعم"},
	} {
		for _, answer := range answers {
			require.True(t, affirms(language, answer), "%s: %s", language, answer)
		}
	}
	for name, between := range map[string]func(c *Conversation){
		"the owner says something": func(c *Conversation) { c.Say(Say{Text: "Is that fine?", Record: true}) },
		"the owner answers":        func(c *Conversation) { c.Respond(id.NewTurn(), "yes") },
		"a team member speaks":     func(c *Conversation) { c.StaffSaid(staffed(c), "I will not do that") },
	} {
		t.Run(name, func(t *testing.T) {
			config, _ := served(t, modeltest.InTurn(asking("weather", `{"place":"Bern"}`), modeltest.Stream("All right.")), weather(map[string]any{"confirm": "visitor"}))
			var once sync.Once
			k := holdWith(t, config, nil, func(c *Conversation) { once.Do(func() { between(c) }) }, "What is the weather in Bern?", "yes")
			require.Empty(t, k.calls)
			require.Empty(t, k.used())
		})
	}
}

// staffed lets a team member in.
func staffed(c *Conversation) id.Staff {
	who := id.NewStaff()
	c.StaffJoined(Staff{ID: who, Name: "Kim", Mode: StaffSpeaks})
	return who
}

// What the visitor is asked holds nothing that the model might not say itself, and all of
// what is done.
func TestWhatTheVisitorIsAsked(t *testing.T) {
	for name, place := range map[string]string{"a human being": "I am a human being", "too long": strings.Repeat("very ", 50) + "far"} {
		config, s := served(t, modeltest.InTurn(asking("weather", `{"place":"`+place+`"}`), modeltest.Stream("All right.")), weather(map[string]any{"confirm": "visitor"}))
		k := hold(t, config, nil, "What is the weather there?", "yes")
		require.NotContains(t, k.said()[1], place, name)
		require.Empty(t, k.calls, name)
		require.Contains(t, s.Requests()[1].Messages[len(s.Requests()[1].Messages)-1].Content, "cannot be asked", name)
	}
}

// A model passes on how somebody can be reached only as they said it.
func TestALeadIsWhatTheVisitorSaid(t *testing.T) {
	config, s := served(t, modeltest.InTurn(asking("lead", `{"email":"invented@evil.example"}`), modeltest.Stream("May I have your address?")), tools("lead"))
	k := hold(t, config, nil, "I want cakes for my wedding")
	require.Empty(t, k.used())
	require.Contains(t, s.Requests()[1].Messages[len(s.Requests()[1].Messages)-1].Content, "did not say this email")
}

// One answer asks for one team member, and uses a few tools at most.
func TestAModelThatAsksForMuchAtOnce(t *testing.T) {
	many := make([]model.ToolCall, 8)
	for i := range many {
		many[i] = model.ToolCall{ID: strconv.Itoa(i), Name: "handoff", Arguments: "{}"}
	}
	config, _ := served(t, modeltest.InTurn(modeltest.Calls("", many...), modeltest.Calls("", many...), modeltest.Stream("Soon.")), tools("handoff"))
	k := hold(t, config, nil, "This bread was mouldy and I am upset about it")
	require.Equal(t, []string{"handoff requested"}, k.used())
}

// A call that cannot be made opens nothing, and neither does what a model asks with.
func TestACallGroundsNothing(t *testing.T) {
	for name, asks := range map[string]modeltest.Behaviour{
		"an unknown tool": asking("no_such_tool", `{}`), "its own words": asking("weather", `{"place":"The entrance costs 5 euros"}`),
	} {
		config, _ := served(t, modeltest.InTurn(asks, modeltest.Stream("Refunds are always granted to everybody without any questions, and our bread cures the flu. The entrance costs 5 euros.")), func(c *Config) {
			weather(nil)(c)
			c.Persona.Knowledge.Mode = strict
		})
		k := hold(t, config, answersWith(`"Refunds are granted"`), "What about the weather?")
		require.NotContains(t, k.said()[1], "flu", name)
		require.NotContains(t, k.said()[1], "5", name)
	}
}

// A model is told of what was used before, also of what was broken off.
func TestAModelKnowsWhatWasUsed(t *testing.T) {
	config, s := served(t, modeltest.InTurn(asking("weather", `{"place":"Bern"}`), modeltest.Stream("It rains."), modeltest.Stream("It still rains.")), weather(nil))
	hold(t, config, answersWith(`"rain"`), "What is the weather in Bern?", "and now?")
	asked := s.Requests()
	require.NotContains(t, asked[0].Messages[0].Content, "used before")
	require.Contains(t, asked[2].Messages[0].Content, `weather {"place":"Bern"}: completed`)

	// Another process goes on with the conversation.
	config, s = served(t, modeltest.Stream("It rains."), func(c *Config) {
		weather(nil)(c)
		c.Turns = []session.Turn{{ID: id.NewTurn(), Speaker: session.Avatar, Text: "Done.", EndedAt: new(time.Now()), ToolCalls: []session.ToolCall{{Name: "charge", Status: completed}}}}
	})
	hold(t, config, nil, "and now?")
	require.Contains(t, s.Requests()[0].Messages[0].Content, "charge: completed")
}

// Who interrupts is not answered, but what was done stands in the transcript.
func TestAnInterruptedCallStandsInTheTranscript(t *testing.T) {
	config, _ := served(t, modeltest.InTurn(asking("weather", `{"place":"Bern"}`), modeltest.Stream("Hello.")), weather(nil))
	k := hold(t, config, func(c *Conversation, _ FunctionCall) { c.Respond(id.NewTurn(), "hello") }, "What is the weather in Bern?")
	require.Equal(t, []string{"weather requested"}, k.used(), "nobody knows whether it was done")
}

// A system of the organization's is asked as the client is, and what it was asked to do goes
// on when the visitor interrupts.
func TestAModelUsesAToolOfASystem(t *testing.T) {
	var keys []string
	remote := Remote{
		Tool: tool.Tool{Name: "order", Title: "Find an order", Description: "Finds one.", Parameters: json.RawMessage(`{"type":"object"}`), TimeoutMs: 5000},
		Use: func(_ context.Context, arguments map[string]any, key string) (string, error) {
			keys = append(keys, key)
			switch arguments["number"] {
			case "8":
				return "", errors.New("the service does not take the request")
			case "9":
				panic("out of order")
			}
			return `{"state":"shipped","parcel":"AB 12"}`, nil
		},
	}
	for number, want := range map[string]struct{ said, used string }{
		"7": {"Your order was shipped, as parcel AB 12.", "order completed"},
		"8": {"I could not find it.", "order failed"},
		"9": {"I could not find it.", "order failed"},
	} {
		config, _ := served(t, modeltest.InTurn(asking("order", `{"number":"`+number+`"}`), modeltest.Stream(want.said)), func(c *Config) {
			c.Persona.Tools, c.Remotes = nil, []Remote{remote}
			c.Persona.Knowledge.Mode = strict
		})
		k := hold(t, config, nil, "Where is my order?")
		require.Equal(t, "avatar: "+want.said, k.said()[1])
		require.Equal(t, []string{want.used}, k.used())
		require.Empty(t, k.calls, "the client has nothing to do with it")
	}
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(keys))), 3, "each use has a key of its own")
}

// A client cannot answer for a system, and no name is offered twice.
func TestAClientCannotAnswerForASystem(t *testing.T) {
	answered, done := make(chan struct{}), make(chan struct{})
	remote := Remote{
		Tool: tool.Tool{Name: "weather", Title: "Weather", Description: "Another.", Parameters: json.RawMessage(`{"type":"object"}`), TimeoutMs: 5000},
		Use: func(_ context.Context, _ map[string]any, key string) (string, error) {
			defer close(done)
			<-answered
			return `"rain"`, nil
		},
	}
	config, s := served(t, modeltest.InTurn(asking("weather", `{}`), modeltest.Stream("There is rain.")), func(c *Config) {
		c.Persona.Tools, c.Remotes = nil, []Remote{remote, remote}
	})
	var c *Conversation
	k := &talk{}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	config.Session.Channel, config.Journal = Chat, k
	config.Send = func(m Message) {
		switch d := m.Data.(type) {
		case ToolUse:
			if d.Status == requested {
				for key := range c.calls { // as if it had guessed it
					c.Receive(ClientMessage{Type: FunctionCallResult, Call: key, Result: json.RawMessage(`"sun"`)})
				}
				close(answered)
			}
		case BotText:
			if d.Final {
				cancel()
			}
		}
	}
	c = New(config)
	c.Receive(ClientMessage{Type: ClientReady})
	c.Respond(id.NewTurn(), "How is the weather?")
	c.Run(ctx)
	<-done
	asked := s.Requests()
	require.Len(t, asked[0].Body["tools"], 1)
	require.Contains(t, asked[1].Messages[len(asked[1].Messages)-1].Content, "rain")
	require.Equal(t, []string{"weather completed"}, k.used())
}

// A conversation that a model wants to end does not end while the visitor is asked something,
// nor where a guardrail has it say something else.
func TestAModelEndsNothingUnheard(t *testing.T) {
	both := func(c *Config) {
		weather(map[string]any{"confirm": "visitor"})(c)
		c.Persona.Tools = append(c.Persona.Tools, persona.Tool{Kind: persona.EndSessionTool, Enabled: true})
	}
	config, _ := served(t, modeltest.InTurn(
		modeltest.Calls("", model.ToolCall{ID: "1", Name: "end_session", Arguments: "{}"}, model.ToolCall{ID: "2", Name: "weather", Arguments: `{"place":"Bern"}`}),
		modeltest.Stream("Here you go."),
	), both)
	k := hold(t, config, answersWith(`"sun"`), "What is the weather in Bern?", "yes")
	require.Empty(t, k.ended)
	require.Equal(t, []string{"weather completed"}, k.used())

	config, _ = served(t, modeltest.InTurn(asking("end_session", "{}"), modeltest.Stream("Our legal advice is to sue.")), func(c *Config) {
		both(c)
		c.Persona.Guardrails = []persona.Guardrail{{Key: "law", Rule: "legal advice", Action: "refuse"}}
	})
	k = hold(t, config, nil, "What do you think of my neighbor's bread?")
	for _, turn := range k.turns {
		require.NotEmpty(t, turn.Text)
		require.False(t, turn.StartedAt.IsZero())
	}
}
