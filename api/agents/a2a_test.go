package agents_test

import (
	"context"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// send asks by the protocol's own client.
func send(t *testing.T, c *a2aclient.Client, text, thread string) (*a2a.Message, error) {
	t.Helper()
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	m.ContextID = thread
	result, err := c.SendMessage(context.Background(), &a2a.SendMessageRequest{Message: m})
	if err != nil {
		return nil, err
	}
	answer, ok := result.(*a2a.Message)
	require.True(t, ok, "%T", result)
	return answer, nil
}

func TestAnAgentOverA2A(t *testing.T) {
	w := apitest.NewWorld(t)
	slug := w.Agent(t, w.Acme)
	card, err := agentcard.NewResolver(http.DefaultClient).Resolve(t.Context(), w.URL+"/agents/"+slug, agentcard.WithPath("/card.json"))
	require.NoError(t, err)
	require.Equal(t, "Acme", card.Provider.Org)
	require.Contains(t, card.Skills[0].Tags, "Hours")
	require.Equal(t, w.URL+"/agents/"+slug+"/a2a", card.SupportedInterfaces[0].URL)
	const question = "When does the museum open?"
	asked := func() map[string]any {
		plain := ask(t, w, slug, map[string]any{"question": question}).Data(t)
		delete(plain, "conversationId")
		return plain
	}

	newest, err := a2aclient.NewFromCard(t.Context(), card)
	require.NoError(t, err)
	compat := a2av0.NewJSONRPCTransportFactory(a2av0.JSONRPCTransportConfig{})
	older, err := a2aclient.NewFromEndpoints(t.Context(), card.SupportedInterfaces[1:],
		a2aclient.WithDefaultsDisabled(), a2aclient.WithCompatTransport(a2av0.Version, a2a.TransportProtocolJSONRPC, compat))
	require.NoError(t, err)
	for name, client := range map[string]*a2aclient.Client{"1.0": newest, "0.3": older} {
		t.Run(name, func(t *testing.T) {
			plain := asked()
			first, err := send(t, client, question, "")
			for tries := 0; tries < 3 && !reflect.DeepEqual(plain, asked()); tries++ { // the minute ended for which an answer to what asks for a time is kept
				plain = asked()
				first, err = send(t, client, question, "")
			}
			require.NoError(t, err)
			require.Equal(t, a2a.MessageRoleAgent, first.Role)
			require.Equal(t, plain["answer"], first.Parts[0].Text())
			data := first.Parts[1].Data().(map[string]any)
			require.Equal(t, first.ContextID, data["conversationId"])
			delete(data, "conversationId")
			require.Equal(t, plain, data, "the same answer as over the API")
			next, err := send(t, client, "And when does it close?", first.ContextID)
			require.NoError(t, err)
			require.Contains(t, next.Parts[0].Text(), "six")

			_, err = send(t, client, "Why?", "a-context-of-mine")
			require.ErrorIs(t, err, a2a.ErrInvalidParams)
			_, err = send(t, client, "  ", "")
			require.ErrorIs(t, err, a2a.ErrInvalidParams)
			_, err = send(t, client, strings.Repeat("why ", 251), "")
			require.ErrorIs(t, err, a2a.ErrInvalidParams)
			_, err = client.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewDataPart(map[string]any{"x": 1}))})
			require.ErrorIs(t, err, a2a.ErrUnsupportedContentType)
			_, err = client.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "none"})
			require.ErrorIs(t, err, a2a.ErrTaskNotFound)
		})
	}
}

// What is sent to the door by hand, of whatever version.
func TestTheDoorOfA2A(t *testing.T) {
	w := apitest.NewWorld(t, behindProxy)
	slug := w.Agent(t, w.Acme)
	post := func(slug, version string, body any) apitest.Answer {
		header := map[string]string{"X-Forwarded-For": "192.0.2.9"}
		if version != "" {
			header["A2A-Version"] = version
		}
		return w.Do(apitest.Request{Method: http.MethodPost, Path: "/agents/" + slug + "/a2a", Body: body, Header: header})
	}
	hello := func(method string) map[string]any {
		return map[string]any{"jsonrpc": "2.0", "id": "1", "method": method, "params": map[string]any{"message": map[string]any{
			"messageId": "m1", "role": map[string]string{"SendMessage": "ROLE_USER", "message/send": "user"}[method],
			"kind": "message", "parts": []any{map[string]any{"kind": "text", "text": "When does the museum open?"}},
		}}}
	}
	require.Contains(t, string(post(slug, "", hello("message/send")).Raw), "nine", "without a version it is 0.3")
	require.Contains(t, string(post(slug, "0.3", hello("message/send")).Raw), "nine")
	require.Contains(t, string(post(slug, "1.0", hello("SendMessage")).Raw), "nine")
	failed := apitest.At(post(slug, "7.0", hello("SendMessage")).JSON(t), "error", "message")
	require.Contains(t, failed, "speaks 1.0 and 0.3")
	for _, version := range []string{"", "1.0"} {
		for _, body := range []string{
			`[]`, `7`, `{}`, `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `{"jsonrpc":"2.0","id":1,"method":"SendMessage"}`,
			`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}`, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"parts":[null]}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","role":"user","parts":[null]}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":null}}`, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":null}`,
			`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m","role":"user","parts":[{"kind":"file","file":null}]}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"configuration":{"pushNotificationConfig":null},"message":{"parts":[{"kind":"text"}]}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"x"}}`, `{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":null}`,
		} {
			answer := post(slug, version, []byte(body))
			require.Less(t, answer.Status, http.StatusInternalServerError, "%s: %s", body, answer.Raw)
			require.Contains(t, string(answer.Raw), `"error"`, body)
			require.NotContains(t, string(answer.Raw), `"result"`, body)
			if strings.Contains(body, map[string]string{"": "message/stream", "1.0": "SendStreamingMessage"}[version]) {
				require.Contains(t, string(answer.Raw), "-32004", "nothing is streamed")
			}
		}
	}
	large := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"x":"` + strings.Repeat("x", 16<<10) + `"}}`
	require.Equal(t, http.StatusRequestEntityTooLarge, post(slug, "1.0", []byte(large)).Status)

	var last apitest.Answer
	for range 241 { // more than two minutes allow of an answer that is kept
		if last = post(slug, "1.0", hello("SendMessage")); !strings.Contains(string(last.Raw), `"result"`) {
			break
		}
	}
	require.Contains(t, apitest.At(last.JSON(t), "error", "message"), "Ask again in ")

	w.LetAgentsAsk(t, w.Acme, false)
	requireRefused(t, w, slug)
	apitest.RequireError(t, post(slug, "1.0", hello("SendMessage")), http.StatusNotFound, "not_found", "path.id")
	apitest.RequireError(t, w.Do(apitest.Request{Method: http.MethodGet, Path: "/agents/" + slug + "/card.json"}), http.StatusNotFound, "not_found", "path.id")
}
