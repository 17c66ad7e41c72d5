package gcs_test

import (
	"bytes"
	"crypto/rand"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	"golang.org/x/oauth2"

	"visavis.dev/pkg/store/file/gcs"
)

// storage is Google's side of the XML API, as its reference describes it: it takes tokens
// alone, and refuses what only Amazon knows.
type storage struct {
	t       *testing.T
	mu      sync.Mutex
	objects map[string][]byte
	types   map[string]string
	parts   map[int][]byte
	uploads int
}

func (s *storage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer a-token" {
		s.refuse(w, http.StatusUnauthorized, "AuthenticationRequired")
		return
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") || r.Header.Get("Content-Encoding") != "" {
			s.t.Errorf("%s %s has the header %s", r.Method, r.URL, name)
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	key, query := strings.TrimPrefix(r.URL.Path, "/files/"), r.URL.Query()
	switch {
	case r.Method == http.MethodPost && query.Has("uploads"):
		s.parts = map[int][]byte{}
		s.types[key] = r.Header.Get("Content-Type")
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><Bucket>files</Bucket><Key>%s</Key><UploadId>u1</UploadId></InitiateMultipartUploadResult>", key)
	case r.Method == http.MethodPut && query.Get("uploadId") == "u1":
		n, _ := strconv.Atoi(query.Get("partNumber"))
		s.parts[n] = body
		w.Header().Set("ETag", fmt.Sprintf("%q", query.Get("partNumber")))
	case r.Method == http.MethodPost && query.Get("uploadId") == "u1":
		s.uploads++
		var whole []byte
		for _, n := range slices.Sorted(maps.Keys(s.parts)) {
			whole = append(whole, s.parts[n]...)
		}
		s.objects[key] = whole
		fmt.Fprintf(w, "<CompleteMultipartUploadResult><Bucket>files</Bucket><Key>%s</Key><ETag>x</ETag></CompleteMultipartUploadResult>", key)
	case r.Method == http.MethodPut:
		s.objects[key], s.types[key] = body, r.Header.Get("Content-Type")
		w.Header().Set("ETag", `"x"`)
	case r.Method == http.MethodGet && query.Get("list-type") == "2":
		s.list(w, query.Get("prefix"))
	case s.objects[key] == nil:
		s.refuse(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Content-Type", s.types[key])
		http.ServeContent(w, r, "", time.Now(), bytes.NewReader(s.objects[key]))
	}
}

func (s *storage) refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
}

func (s *storage) list(w http.ResponseWriter, prefix string) {
	type object struct {
		Key          string
		LastModified time.Time
		ETag         string
		Size         int
	}
	found := struct {
		XMLName     xml.Name `xml:"ListBucketResult"`
		Name        string
		IsTruncated bool
		Contents    []object
	}{Name: "files"}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if strings.HasPrefix(key, prefix) {
			found.Contents = append(found.Contents, object{Key: key, LastModified: time.Now().UTC(), ETag: `"x"`, Size: len(s.objects[key])})
		}
	}
	if err := xml.NewEncoder(w).Encode(found); err != nil {
		s.t.Error(err)
	}
}

func open(t *testing.T, token string) (*blob.Bucket, *storage) {
	t.Helper()
	s := &storage{t: t, objects: map[string][]byte{}, types: map[string]string{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	b, err := gcs.Open(t.Context(), server.URL, "files", oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token}))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b, s
}

func TestABucketKeepsObjects(t *testing.T) {
	t.Parallel()
	b, s := open(t, "a-token")
	ctx := t.Context()
	large := make([]byte, 20<<20)
	_, _ = rand.Read(large) // never fails
	for key, data := range map[string][]byte{"org_1/a": []byte("small"), "org_1/b": large, "org_2/a": {}} {
		w, err := b.NewWriter(ctx, key, &blob.WriterOptions{ContentType: "text/plain", BufferSize: 5 << 20, MaxConcurrency: 1})
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		got, err := b.ReadAll(ctx, key)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got), key)
	}
	require.Equal(t, 1, s.uploads, "the large one went in parts")

	attributes, err := b.Attributes(ctx, "org_1/b")
	require.NoError(t, err)
	require.Equal(t, int64(len(large)), attributes.Size)
	require.Equal(t, "text/plain", attributes.ContentType)
	part, err := b.NewRangeReader(ctx, "org_1/b", 100, 50, nil)
	require.NoError(t, err)
	got, err := io.ReadAll(part)
	require.NoError(t, err)
	require.NoError(t, part.Close())
	require.Equal(t, large[100:150], got)

	var keys []string
	for list := b.List(&blob.ListOptions{Prefix: "org_1/"}); ; {
		object, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		keys = append(keys, object.Key)
	}
	require.Equal(t, []string{"org_1/a", "org_1/b"}, keys)

	require.NoError(t, b.Delete(ctx, "org_1/a"))
	_, err = b.ReadAll(ctx, "org_1/a")
	require.Equal(t, gcerrors.NotFound, gcerrors.Code(err))
	require.Equal(t, gcerrors.NotFound, gcerrors.Code(b.Delete(ctx, "org_1/a")))
}

func TestABucketOfAnotherIsRefused(t *testing.T) {
	t.Parallel()
	b, _ := open(t, "another-token")
	_, err := b.ReadAll(t.Context(), "org_1/a")
	require.ErrorContains(t, err, "AuthenticationRequired")
}

// The credentials are those of a service account, as its file has them.
func TestBucketsAreOpenedByURL(t *testing.T) {
	file := filepath.Join(t.TempDir(), "account.json")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", file)
	_, err := blob.OpenBucket(t.Context(), "gs://files")
	require.ErrorContains(t, err, "account.json")

	require.NoError(t, os.WriteFile(file, []byte(`{"type": "authorized_user", "client_id": "a", "client_secret": "b", "refresh_token": "c"}`), 0o600))
	b, err := blob.OpenBucket(t.Context(), "gs://files")
	require.NoError(t, err)
	require.NoError(t, b.Close())
	_, err = blob.OpenBucket(t.Context(), "gs://files?grpc=true")
	require.ErrorContains(t, err, "nothing after it")
}
