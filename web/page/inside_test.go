package page

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"visavis.dev/pkg/portals/portal"
)

func TestEveryLanguageSaysEverything(t *testing.T) {
	require.GreaterOrEqual(t, len(speeches()), 5)
	want := slices.Sorted(maps.Keys(speeches()[fallback]))
	for code, s := range speeches() {
		require.Equal(t, want, slices.Sorted(maps.Keys(s)), code)
		for key, text := range s {
			require.NotEmpty(t, text, "%s %s", code, key)
			require.Equal(t, strings.Count(speeches()[fallback][key], "%s"), strings.Count(text, "%s"), "%s %s", code, key)
		}
		require.Contains(t, names(), code)
	}
	for _, keys := range []map[string]string{byReason, byParam} {
		for _, key := range keys {
			require.Contains(t, speeches()[fallback], "refused."+key)
		}
	}
	for _, key := range byCode {
		require.Contains(t, speeches()[fallback], "refused."+key)
	}
}

func TestEveryAccentCanBeRead(t *testing.T) {
	channel := rapid.Float64Range(0, 1)
	rapid.Check(t, func(t *rapid.T) {
		drawn := colour{channel.Draw(t, "r"), channel.Draw(t, "g"), channel.Draw(t, "b")}
		accent, ok := parseColour(drawn.String())
		require.True(t, ok)
		require.GreaterOrEqual(t, contrast(accent, textOn(accent)), 4.5)
		for _, b := range lightBackgrounds(accent) {
			require.GreaterOrEqual(t, contrast(legible(accent, black, lightBackgrounds(accent)...), b), 4.5)
		}
		for _, b := range darkBackgrounds(accent) {
			require.GreaterOrEqual(t, contrast(legible(accent, white, darkBackgrounds(accent)...), b), 4.5)
		}
	})
}

func TestColours(t *testing.T) {
	for _, bad := range []string{"", "#fff", "175e9e0", "#gggggg", "#-17e9e", "#17 5e9"} {
		_, ok := parseColour(bad)
		require.False(t, ok, bad)
	}
	require.InDelta(t, 21, contrast(black, white), 0.001)
	require.InDelta(t, 4.54, contrast(colour{0x76 / 255.0, 0x76 / 255.0, 0x76 / 255.0}, white), 0.01)
}

func TestStylesheets(t *testing.T) {
	for dark, want := range map[string]string{"auto": "@media (prefers-color-scheme:dark)", "on": "[data-dark]{--accent-text", "off": ""} {
		css := stylesheet(portal.Brand{Accent: "#ffcc00", Dark: dark, Font: "Inter, Fira Sans"})
		require.Contains(t, css, "--accent:#ffcc00;--on-accent:#000000;")
		require.Contains(t, css, `--font:"Inter","Fira Sans",system-ui`)
		require.Contains(t, css, want)
	}
	require.Contains(t, stylesheet(portal.Brand{}), "--accent:#175e9e")
	require.NotContains(t, stylesheet(portal.Brand{Dark: "off"}), "@media")
}

func TestMarkdown(t *testing.T) {
	for source, want := range map[string]string{
		"# Big":                          "<h3>Big</h3>",
		"###### Small":                   "<h6>Small</h6>",
		"**bold** ~~gone~~":              "<p><strong>bold</strong> <del>gone</del></p>",
		"[a](https://example.com)":       `<a href="https://example.com" rel="noopener noreferrer nofollow" target="_blank">a</a>`,
		"[a](mailto:a@example.com)":      `<a href="mailto:a@example.com"`,
		"[a](javascript:alert(1))":       `<a href="" rel=`,
		"[a](//evil.example.com)":        `<a href="" rel=`,
		"[a][r]\n\n[r]: javascript:x":    `<a href="" rel=`,
		"![pic](https://example.com/p)":  `<a href="https://example.com/p" rel="noopener noreferrer nofollow" target="_blank">pic</a>`,
		"![](https://example.com/p)":     `>https://example.com/p</a>`,
		"see https://example.com now":    `<a href="https://example.com" rel="noopener noreferrer nofollow"`,
		"<tel:1&2> <bb:c>":               "<p>tel:1&amp;2 bb:c</p>",
		`![](https://example.com/"><i>)`: "&quot;&gt;&lt;i&gt;",
		"<b>x</b><script>y</script>":     "<!-- raw HTML omitted -->",
		"| a |\n| -: |\n| 1 |":           `<td align="right">1</td>`,
	} {
		require.Contains(t, string(markdown(source, 2)), want, source)
	}
}

func TestPlain(t *testing.T) {
	require.Equal(t, "Title One two link https://example.com", plain("# Title\n\nOne **two**\n[link](https://x.example.com) <https://example.com>"))
	require.Equal(t, "a b", plain("- a\n- b"))
	long := plain(strings.Repeat("ä ", 500))
	require.LessOrEqual(t, len([]rune(long)), shownPlain+1)
	require.True(t, strings.HasSuffix(long, "…"))
}

// FuzzMarkdown looks at what a browser would make of any text: no script, nothing
// loaded, no address that runs something.
func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{"[a](javascript:x)", "![x](y)", "<script>", "<javascript:x>", "[a]: data:x\n[a]", "www.example.com", "&#x6A;avascript:", "[x](\x01javascript:y)", "[a](<java\nscript:x>)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		root, err := html.Parse(strings.NewReader(string(markdown(source, 2))))
		require.NoError(t, err)
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			require.NotContains(t, []string{"script", "img", "style", "iframe", "object", "form", "svg", "link", "meta"}, n.Data)
			for _, a := range n.Attr {
				require.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "style", a.Key)
				if a.Key == "href" && a.Val != "" {
					require.True(t, webAddress(a.Val) || strings.HasPrefix(a.Val, "mailto:"), a.Val)
				}
			}
		}
		_ = plain(source)
	})
}

func TestDirections(t *testing.T) {
	for code, want := range map[string]string{"ar": "rtl", "he": "rtl", "fa": "rtl", "ur": "rtl", "de": "ltr", "zh-Hant": "ltr", "az": "ltr", "": "ltr"} {
		require.Equal(t, want, direction(code), code)
	}
}

// A browser is told of every module that a page's script needs at once, and of none that it loads later.
func TestModulesOfAScript(t *testing.T) {
	a := theAssets()
	found := a.modules["talk.js"]
	for _, name := range []string{"live.js", "stage.js", "face.js", "mesh.js", "devices.js", "check.js"} {
		require.Contains(t, found, name)
	}
	require.NotContains(t, found, "talk.js")
	require.NotContains(t, found, "soundcheck.js")
	for name, needed := range a.modules {
		for _, each := range needed {
			require.Contains(t, a.files, a.base+each, name)
		}
	}
}
