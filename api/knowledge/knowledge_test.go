package knowledge_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/text/crawl"
)

func aFile(text string) apitest.Part {
	return apitest.Part{Field: "file", Name: `C:\docs\Museum guide.txt`, ContentType: "text/plain", Text: text}
}

func search(t *testing.T, w *apitest.World, base, query string) map[string]any {
	t.Helper()
	answer := w.CallAs(t, "searchKnowledgeBase", base, w.Acme.New, map[string]any{"query": query})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

func TestUploadingADocument(t *testing.T) {
	w := apitest.NewWorld(t)
	base := w.Pack(t, w.Acme)
	added := w.Upload(t, base, apitest.Part{Field: "title", Text: "Guide"}, apitest.Part{Field: "tags", Text: "visit"}, apitest.Part{Field: "tags", Text: "all"}, aFile(apitest.Guide))
	require.Equal(t, http.StatusCreated, added.Status, "%s", added.Raw)
	d := added.Data(t)
	document := d["id"].(string)
	for name, want := range map[string]any{
		"kind": "file", "title": "Guide", "status": "processing", "filename": "Museum guide.txt", "contentType": "text/plain",
		"bytes": float64(len(apitest.Guide)), "tags": []any{"visit", "all"}, "knowledgeBaseId": base, "url": nil, "crawl": nil,
	} {
		require.Equal(t, want, d[name], name)
	}
	require.NotNil(t, d["jobId"])
	job := w.Get(w.Acme.New, "/jobs/"+d["jobId"].(string)).Data(t)
	require.Equal(t, []any{"knowledge_sync", "queued", document}, []any{job["kind"], job["state"], job["resourceId"]})
	e := apitest.RequireError(t, w.CallAs(t, "cancelJob", d["jobId"].(string), w.Acme.New, nil), http.StatusConflict, "conflict", "")
	require.Equal(t, "not_cancellable", e["details"].(map[string]any)["reason"])

	again := w.Upload(t, base, aFile(apitest.Guide))
	require.Equal(t, http.StatusOK, again.Status, "the same content is there")
	require.Equal(t, d, again.Data(t))
	asText := w.CallAs(t, "addKnowledgeDocument", base, w.Acme.New, map[string]any{"kind": "text", "text": apitest.Guide})
	require.Equal(t, http.StatusOK, asText.Status)

	w.ReadDocuments(t)
	read := w.CallAs(t, "getKnowledgeDocument", document, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"ready", nil, "en", 1.0}, []any{read["status"], read["jobId"], read["language"], read["chunkCount"]})
	found := search(t, w, base, "When does the museum open?")
	require.Equal(t, true, found["grounded"])
	first := found["results"].([]any)[0].(map[string]any)
	require.Equal(t, document, first["documentId"])
	require.NotEmpty(t, first["highlights"])
	require.Equal(t, false, search(t, w, base, "What does insurance cover?")["grounded"])

	file := w.CallAs(t, "downloadKnowledgeDocument", document, w.Acme.New, nil)
	require.Equal(t, apitest.Guide, string(file.Raw))
	require.Equal(t, "nosniff", file.Header.Get("X-Content-Type-Options"))
	require.Equal(t, `attachment; filename="Museum guide.txt"`, file.Header.Get("Content-Disposition"))
	require.Contains(t, file.Header.Get("Content-Security-Policy"), "sandbox")

	pack := w.CallAs(t, "getKnowledgeBase", base, w.Acme.New, nil).Data(t)
	require.Equal(t, []any{1.0, 1.0, 0.0, 0.0, 1.0},
		[]any{pack["documentCount"], pack["readyCount"], pack["failedCount"], pack["processingCount"], pack["chunkCount"]})

	require.Equal(t, map[string]any{"deleted": true, "id": document}, w.CallAs(t, "deleteKnowledgeDocument", document, w.Acme.New, nil).Data(t))
	require.Empty(t, search(t, w, base, "museum")["results"])
	for _, operation := range []string{"getKnowledgeDocument", "deleteKnowledgeDocument", "updateKnowledgeDocument", "refreshKnowledgeDocument", "listKnowledgeChunks", "downloadKnowledgeDocument"} {
		body := w.Body(t, w.Operation(t, operation))
		apitest.RequireError(t, w.CallAs(t, operation, document, w.Acme.New, body), http.StatusGone, "gone", "path.id")
		apitest.RequireError(t, w.CallAs(t, operation, document, w.Globex.New, body), http.StatusNotFound, "not_found", "path.id")
	}
	require.Equal(t, http.StatusCreated, w.Upload(t, base, aFile(apitest.Guide)).Status, "what was deleted can be added again")
}

func TestFormsThatAreNoUpload(t *testing.T) {
	w := apitest.NewWorld(t)
	base := w.Pack(t, w.Acme)
	for name, test := range map[string]struct {
		parts       []apitest.Part
		status      int
		code, param string
	}{
		"nothing":        {nil, 400, "invalid_request", "body"},
		"no file":        {[]apitest.Part{{Field: "title", Text: "x"}}, 400, "invalid_request", "body.file"},
		"two files":      {[]apitest.Part{aFile("a"), aFile("b")}, 400, "invalid_request", "body.file"},
		"an empty file":  {[]apitest.Part{aFile("")}, 400, "invalid_request", "body.file"},
		"a picture":      {[]apitest.Part{{Field: "file", Name: "a.txt", ContentType: "text/plain", Text: "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"}}, 415, "unsupported_media_type", "body.file"},
		"unknown field":  {[]apitest.Part{{Field: "kind", Text: "url"}, aFile("a")}, 400, "invalid_request", "body"},
		"title twice":    {[]apitest.Part{{Field: "title", Text: "a"}, {Field: "title", Text: "b"}, aFile("a")}, 400, "invalid_request", "body"},
		"a long title":   {[]apitest.Part{{Field: "title", Text: strings.Repeat("x", 201)}, aFile("a")}, 400, "invalid_request", "body.title"},
		"an endless one": {[]apitest.Part{{Field: "title", Text: strings.Repeat("x", 1<<15)}, aFile("a")}, 413, "too_large", "body.title"},
		"an empty tag":   {[]apitest.Part{{Field: "tags", Text: ""}, aFile("a")}, 400, "invalid_request", "body.tags[0]"},
		"no text":        {[]apitest.Part{{Field: "title", Text: "\xff"}, aFile("a")}, 400, "invalid_request", "body.title"},
		"NUL":            {[]apitest.Part{{Field: "title", Text: "a\x00"}, aFile("a")}, 400, "invalid_request", "body.title"},
	} {
		t.Run(name, func(t *testing.T) {
			apitest.RequireError(t, w.Upload(t, base, test.parts...), test.status, test.code, test.param)
		})
	}
	o := w.Operation(t, "addKnowledgeDocument")
	half := apitest.Form(t, apitest.WithID(o, base), w.Acme.New, aFile(apitest.Guide))
	half.Body = half.Body.([]byte)[:len(half.Body.([]byte))-20]
	apitest.RequireError(t, w.Call(t, o, half), http.StatusBadRequest, "invalid_request", "body")
	apitest.RequireError(t, w.CallAs(t, o.ID, base, w.Acme.New, map[string]any{"kind": "file"}), http.StatusBadRequest, "invalid_request", "body.kind")
	for body, param := range map[string]string{
		`{"kind":"url"}`: "body.url", `{"kind":"text"}`: "body.text", `{"kind":"text","text":" "}`: "body.text",
		`{"kind":"text","text":"a","url":"https://example.com/"}`: "body.url", `{"kind":"text","text":"a","refresh":"daily"}`: "body.refresh",
		`{"kind":"url","url":"http://example.com/"}`: "body.url", `{"kind":"url","url":"https://10.0.0.1/"}`: "body.url",
		`{"kind":"text","text":"a","crawl":{"depth":1}}`: "body.crawl", `{"kind":"url","url":"https://example.com/","crawl":{"depth":3}}`: "body.crawl.depth",
	} {
		apitest.RequireError(t, w.Call(t, o, apitest.Request{Path: apitest.WithID(o, base), Key: w.Acme.New, Body: []byte(body)}), http.StatusBadRequest, "invalid_request", param)
	}
	require.Equal(t, 0.0, w.CallAs(t, "getKnowledgeBase", base, w.Acme.New, nil).Data(t)["documentCount"])
}

func TestLimitsOfKnowledge(t *testing.T) {
	w := apitest.NewWorld(t)
	base := w.Pack(t, w.Acme)
	w.Limit(t, plan.Limits{plan.DocumentBytes: new(int64(100_000)), plan.DocumentsPerBase: new(int64(3)), plan.KnowledgeBases: new(int64(2))})
	o := w.Operation(t, "addKnowledgeDocument")

	large := strings.Repeat("x", 100_001)
	apitest.RequireError(t, w.Upload(t, base, aFile(large)), http.StatusRequestEntityTooLarge, "too_large", "body.file")
	apitest.RequireError(t, w.Upload(t, base, aFile(strings.Repeat(large, 12))), http.StatusRequestEntityTooLarge, "too_large", "body")
	apitest.RequireError(t, w.Call(t, o, apitest.Form(t, apitest.WithID(o, base), w.Acme.Old, aFile(large))), http.StatusRequestEntityTooLarge, "invalid_request", "body.file")
	apitest.RequireError(t, w.CallAs(t, o.ID, base, w.Acme.New, map[string]any{"kind": "text", "text": large}), http.StatusRequestEntityTooLarge, "too_large", "body.text")
	require.Equal(t, http.StatusCreated, w.Upload(t, base, aFile(large[1:])).Status)

	statuses := make([]int, 6)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() {
			statuses[i] = w.Do(apitest.Request{
				Method: o.Method, Path: apitest.WithID(o, base), Key: w.Acme.New, Body: map[string]any{"kind": "text", "text": fmt.Sprint("text ", i)},
			}).Status
		})
	}
	all.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	require.Equal(t, map[int]int{http.StatusCreated: 2, http.StatusForbidden: 4}, count)
	e := apitest.RequireError(t, w.Upload(t, base, aFile("one more")), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, "documentsPerBase", e["details"].(map[string]any)["feature"])
	require.Equal(t, http.StatusOK, w.Upload(t, base, aFile(large[1:])).Status, "what is there is answered all the same")

	w.Pack(t, w.Acme)
	create := w.Operation(t, "createKnowledgeBase")
	e = apitest.RequireError(t, w.Call(t, create, apitest.Request{Path: create.Path, Key: w.Acme.New, Body: w.Body(t, create)}), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, "knowledgeBases", e["details"].(map[string]any)["feature"])
}

func TestUploadsAtOnceAndAgain(t *testing.T) {
	w := apitest.NewWorld(t)
	base := w.Pack(t, w.Acme)
	o := w.Operation(t, "addKnowledgeDocument")
	answers := make([]apitest.Answer, 6)
	var all sync.WaitGroup
	for i := range answers {
		r := apitest.Form(t, apitest.WithID(o, base), w.Acme.New, aFile(apitest.Guide))
		r.Method = o.Method
		all.Go(func() { answers[i] = w.Do(r) })
	}
	all.Wait()
	created, ids := 0, map[string]bool{}
	for _, answer := range answers {
		w.Check(t, o, answer)
		if answer.Status == http.StatusCreated {
			created++
		}
		ids[answer.Data(t)["id"].(string)] = true
	}
	require.Equal(t, 1, created)
	require.Len(t, ids, 1)

	// A form with an Idempotency-Key is the same whatever its boundary.
	send := func(text string) apitest.Answer {
		r := apitest.Form(t, apitest.WithID(o, base), w.Acme.New, aFile(text))
		r.Header[route.IdempotencyHeader] = "one"
		return w.Call(t, o, r)
	}
	first := send("another text")
	require.Equal(t, http.StatusCreated, first.Status)
	second := send("another text")
	require.Equal(t, "true", second.Header.Get("Idempotency-Replayed"))
	require.Equal(t, string(first.Raw), string(second.Raw))
	apitest.RequireError(t, send("a third text"), http.StatusConflict, "idempotency_conflict", "header.Idempotency-Key")
}

func TestDeletingAPack(t *testing.T) {
	w := apitest.NewWorld(t)
	base := w.Pack(t, w.Acme)
	b, err := id.ParseKnowledgeBase(base)
	require.NoError(t, err)
	document := w.AddDocument(t, w.Acme, base)
	use := func(sql string) {
		require.NoError(t, w.Tenants.InTx(context.Background(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
			_, err := tx.Exec(ctx, sql, w.Acme.ID, b, uuid.UUID{1})
			return err
		}))
	}
	use(`INSERT INTO knowledge_use (org_id, base_id, user_kind, user_id) VALUES ($1, $2, 'portal', $3)`)
	e := apitest.RequireError(t, w.CallAs(t, "deleteKnowledgeBase", base, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "in_use", e["details"].(map[string]any)["reason"])
	portal := id.Portal{1}
	for key, want := range map[apikey.Secret]string{w.Acme.New: portal.String(), w.Acme.Old: portal.Bare()} {
		used := w.CallAs(t, "getKnowledgeBase", base, key, nil).Data(t)["usedBy"]
		require.Equal(t, map[string]any{"personaIds": []any{}, "portalIds": []any{want}}, used)
	}
	use(`DELETE FROM knowledge_use WHERE org_id = $1 AND base_id = $2 AND user_id = $3`)
	require.Equal(t, http.StatusOK, w.CallAs(t, "deleteKnowledgeBase", base, w.Acme.New, nil).Status)
	for _, operation := range []string{"getKnowledgeBase", "updateKnowledgeBase", "deleteKnowledgeBase", "searchKnowledgeBase", "listKnowledgeDocuments", "addKnowledgeDocument"} {
		apitest.RequireError(t, w.CallAs(t, operation, base, w.Acme.New, w.Body(t, w.Operation(t, operation))), http.StatusGone, "gone", "path.id")
	}
	apitest.RequireError(t, w.CallAs(t, "getKnowledgeDocument", document, w.Acme.New, nil), http.StatusGone, "gone", "path.id")
}

func TestRefreshingADocument(t *testing.T) {
	w := apitest.NewWorld(t)
	base := w.Pack(t, w.Acme)
	text := w.CallAs(t, "addKnowledgeDocument", base, w.Acme.New, map[string]any{"kind": "text", "text": apitest.Guide}).Data(t)["id"].(string)
	e := apitest.RequireError(t, w.CallAs(t, "refreshKnowledgeDocument", text, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "not_url", e["details"].(map[string]any)["reason"])
	apitest.RequireError(t, w.CallAs(t, "updateKnowledgeDocument", text, w.Acme.New, map[string]any{"refresh": "daily"}), http.StatusBadRequest, "invalid_request", "body.refresh")

	site := w.AddDocument(t, w.Acme, base)
	e = apitest.RequireError(t, w.CallAs(t, "downloadKnowledgeDocument", site, w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "not_fetched", e["details"].(map[string]any)["reason"])
	w.ReadDocuments(t)
	require.Equal(t, apitest.Page, string(w.CallAs(t, "downloadKnowledgeDocument", site, w.Acme.New, nil).Raw))
	refreshed := w.CallAs(t, "refreshKnowledgeDocument", site, w.Acme.New, nil)
	require.Equal(t, http.StatusAccepted, refreshed.Status)
	require.Equal(t, "ready", refreshed.Data(t)["status"])
	twice := w.CallAs(t, "refreshKnowledgeDocument", site, w.Acme.New, nil).Data(t)
	require.Equal(t, refreshed.Data(t)["jobId"], twice["jobId"], "it is on its way")
	w.ReadWith(t, func(context.Context, string, crawl.Options, func(crawl.Page) error) error {
		return &crawl.Error{Code: crawl.CodeBlocked, Err: crawl.ErrBlocked}
	})
	broken := w.CallAs(t, "getKnowledgeDocument", site, w.Acme.New, nil).Data(t)
	require.Equal(t, "ready", broken["status"])
	require.Equal(t, "blocked", broken["error"].(map[string]any)["code"])
	require.NotEmpty(t, search(t, w, base, "parking")["results"], "what was read before is found")
}

func TestGaps(t *testing.T) {
	w := apitest.NewWorld(t)
	gap := w.RecordGap(t, w.Acme)
	blind := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: []scope.Scope{scope.InboxRead, scope.InboxWrite}})
	for key, want := range map[apikey.Secret]any{w.Acme.New: []any{"Do you sell gift cards?"}, blind: nil} {
		items, _ := w.Page(t, w.Operation(t, "listKnowledgeGaps"), key, nil)
		require.Len(t, items, 1)
		require.Equal(t, want, items[0].(map[string]any)["questions"])
	}
	base := w.Pack(t, w.Acme)
	document := w.AddDocument(t, w.Acme, base)
	changed := w.CallAs(t, "updateKnowledgeGap", gap, w.Acme.New, map[string]any{"state": "answered", "suggestedDocumentId": document}).Data(t)
	require.Equal(t, []any{"answered", document}, []any{changed["state"], changed["suggestedDocumentId"]})
	foreign := w.AddDocument(t, w.Globex, w.Pack(t, w.Globex))
	for _, other := range []string{foreign, base, "x"} {
		apitest.RequireError(t, w.CallAs(t, "updateKnowledgeGap", gap, w.Acme.New, map[string]any{"suggestedDocumentId": other}), http.StatusBadRequest, "invalid_request", "body.suggestedDocumentId")
	}

	// The words of its event are for those who may read them, while they are kept.
	withheld := w.RecordGap(t, w.Acme, func(q *knowledge.Question) { q.Withheld, q.Text = true, "Where is my parcel?" })
	require.NotEqual(t, gap, withheld)
	events, _ := w.Page(t, w.Operation(t, "listEvents"), w.Acme.New, map[string][]string{"type": {"knowledge.gap"}, "order": {"asc"}})
	require.Len(t, events, 2)
	require.Equal(t, gap, events[0].(map[string]any)["data"].(map[string]any)["gapId"])
	require.NotContains(t, fmt.Sprint(events[1]), "parcel")
}

// A pack that takes no more says what it is full of.
func TestFullPacks(t *testing.T) {
	w := apitest.NewWorld(t)
	base := w.Pack(t, w.Acme)
	o := w.Operation(t, "addKnowledgeDocument")
	w.Limit(t, plan.Limits{plan.BytesPerBase: new(int64(1000))})
	limits := w.Do(apitest.Request{Method: http.MethodGet, Path: "/me", Key: w.Acme.New}).Data(t)["limits"].(map[string]any)
	require.Equal(t, 1000.0, limits["bytesPerBase"])
	require.Equal(t, http.StatusCreated, w.Upload(t, base, aFile(strings.Repeat("x", 900))).Status)
	e := apitest.RequireError(t, w.Upload(t, base, aFile(strings.Repeat("x", 101))), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, "bytesPerBase", e["details"].(map[string]any)["feature"])

	db, err := w.Tenants.Shard(context.Background(), "shard-1")
	require.NoError(t, err)
	_, err = db.Exec(context.Background(), `UPDATE knowledge_base SET postings = 12500000 WHERE org_id = $1`, w.Acme.ID)
	require.NoError(t, err)
	w.CallAs(t, o.ID, base, w.Acme.New, map[string]any{"kind": "text", "text": "The museum opens at nine."})
	w.ReadDocuments(t)
	_, err = db.Exec(context.Background(), `UPDATE knowledge_base SET postings = 13000000 WHERE org_id = $1`, w.Acme.ID)
	require.NoError(t, err)
	e = apitest.RequireError(t, w.CallAs(t, o.ID, base, w.Acme.New, map[string]any{"kind": "text", "text": "It closes at six."}), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "pack_full", e["details"].(map[string]any)["reason"])
}
