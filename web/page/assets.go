package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"visavis.dev/web/client"
)

//go:embed assets
var assetFiles embed.FS

// assetPrefix is under what assets are, on every host. A slug has no "~".
const assetPrefix = SlugPrefix + "~/"

// assets are the files that pages load, by path. The path holds the hash of them
// all, so that modules import each other by their names and every file can be kept
// for ever.
var assetBase, assets = func() (string, map[string]*document) {
	files := map[string][]byte{}
	for _, folder := range []fs.FS{client.Files, must(fs.Sub(assetFiles, "assets"))} {
		for _, name := range must(fs.Glob(folder, "*.*")) {
			files[name] = must(fs.ReadFile(folder, name))
		}
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, _ = sum.Write([]byte(name))
		_, _ = sum.Write(files[name])
	}
	base := assetPrefix + hex.EncodeToString(sum.Sum(nil)[:8]) + "/"
	found := map[string]*document{}
	for name, text := range files {
		found[base+name] = newDocument(text, mime.TypeByExtension(path.Ext(name)))
	}
	return base, found
}()

// forEver is for what has another address once it changes.
const forEver = "public, max-age=31536000, immutable"

func serveAsset(w http.ResponseWriter, r *http.Request) {
	found, ok := assets[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", forEver)
	found.serve(w, r, http.StatusOK)
}

// document is something as it is sent, packed and not.
type document struct {
	contentType string
	body        []byte
	packed      []byte
	etag        string
}

// worthPacking is from what size packing saves a packet.
const worthPacking = 1000

func newDocument(body []byte, contentType string) *document {
	sum := sha256.Sum256(body)
	d := &document{contentType: contentType, body: body, etag: `W/"` + hex.EncodeToString(sum[:12]) + `"`}
	if len(body) < worthPacking || strings.HasPrefix(contentType, "image/") && contentType != "image/svg+xml" {
		return d
	}
	var packed bytes.Buffer
	z := must(gzip.NewWriterLevel(&packed, gzip.BestCompression))
	_, _ = z.Write(body) // a buffer takes everything
	_ = z.Close()
	d.packed = packed.Bytes()
	return d
}

// serve sends a document, unless the browser has it already.
func (d *document) serve(w http.ResponseWriter, r *http.Request, status int) {
	header := w.Header()
	header.Set("ETag", d.etag)
	header.Add("Vary", "Accept-Encoding")
	if status == http.StatusOK && strings.Contains(r.Header.Get("If-None-Match"), d.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", d.contentType)
	body := d.body
	if d.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = d.packed
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the caller went away
	}
}

// must is for what is built into the program.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
