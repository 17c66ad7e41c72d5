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
	"regexp"
	"slices"
	"sync"

	"visavis.dev/web/client"
	"visavis.dev/web/livekit"
	"visavis.dev/web/packed"
)

//go:embed assets
var assetFiles embed.FS

// assetPrefix is under what assets are, on every host. A slug has no "~".
const assetPrefix = SlugPrefix + "~/"

// assets are the files that pages load.
type assets struct {
	// base is under what they are. It holds the hash of them all, so that modules import each other by their names and
	// every file can be kept for ever.
	base string
	// files are by path, and modules, by name, what each needs.
	files   map[string]*packed.Document
	modules map[string][]string
}

// theAssets are made once, and only by a process that shows pages (New): most uses of the program show none.
var theAssets = sync.OnceValue(func() assets {
	files := map[string][]byte{}
	for _, folder := range []fs.FS{client.Files, livekit.Files, must(fs.Sub(assetFiles, "assets"))} {
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
	imported := map[string][]string{}
	for name := range files {
		if path.Ext(name) == ".js" {
			imported[name] = importsOf(files, name)
		}
	}
	return assets{base, found, imported}
})

// anImport is one that a module begins with, and no import() that it makes later.
var anImport = regexp.MustCompile(`(?m)^(?:import|export) [^'"]*from '\./([a-z]+\.js)'$`)

// importsOf are the modules that a module needs, those of these too, so that a browser that is told of
// them asks for all at once.
func importsOf(files map[string][]byte, name string) []string {
	needed := []string{}
	for next := []string{name}; len(next) > 0; next = next[1:] {
		for _, found := range anImport.FindAllSubmatch(files[next[0]], -1) {
			if one := string(found[1]); one != name && !slices.Contains(needed, one) {
				needed, next = append(needed, one), append(next, one)
			}
		}
	}
	return needed
}

// forEver is for what has another address once it changes.
const forEver = "public, max-age=31536000, immutable"

func serveAsset(w http.ResponseWriter, r *http.Request) {
	found, ok := theAssets().files[r.URL.Path]
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
