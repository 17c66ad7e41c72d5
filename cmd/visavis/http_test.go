package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// client gives up on a process that was killed in the middle of an answer.
var client = &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// answer is what came back of a call.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// attempt makes a call that may fail to reach anybody.
func attempt(method, url, key string, body any, headers ...string) (answer, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return answer{}, err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, url, content)
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, text}, err
}

func get(t *testing.T, url, key string) answer {
	t.Helper()
	a, err := attempt(http.MethodGet, url, key, nil)
	require.NoError(t, err)
	return a
}

func post(t *testing.T, url, key string, body any) answer {
	t.Helper()
	a, err := attempt(http.MethodPost, url, key, body)
	require.NoError(t, err)
	return a
}

// failure is the answer's error object.
type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (a answer) failure(t *testing.T) failure {
	t.Helper()
	return decode[struct{ Error failure }](t, a).Error
}

// data reads the data of a successful answer.
func data[T any](t *testing.T, a answer) T {
	t.Helper()
	require.Less(t, a.status, 300, "%s", a.body)
	return decode[struct{ Data T }](t, a).Data
}

func decode[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(a.body, &v), "%s", a.body)
	return v
}

// requireStatus waits until a call is answered with a status.
func requireStatus(t *testing.T, status int, url, key string) answer {
	t.Helper()
	var last answer
	require.Eventually(t, func() bool {
		a, err := attempt(http.MethodGet, url, key, nil)
		last = a
		return err == nil && a.status == status
	}, patience, 50*time.Millisecond, "%s never answered %d", url, status)
	return last
}
