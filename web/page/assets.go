package page

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"

	"visavis.dev/web/client"
	"visavis.dev/web/packed"
)

//go:embed assets
var assetFiles embed.FS

// assetPrefix is under what assets are, on every host. A slug has no "~".
const assetPrefix = SlugPrefix + "~/"

// assets are the files that pages load, by path. The path holds the hash of them
// all, so that modules import each other by their names and every file can be kept
// for ever.
var assetBase, assets = func() (string, map[string]*packed.Document) {
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
	found := map[string]*packed.Document{}
	for name, text := range files {
		found[base+name] = packed.New(text, mime.TypeByExtension(path.Ext(name)))
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
	found.Serve(w, r, http.StatusOK)
}

// must is for what is built into the program.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
