package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"visavis.dev/pkg/portals/portal"
)

// stylesheet is what a portal's brand makes of the pages: the accent in a form
// that can be read in light and in dark, and the font.
func stylesheet(b portal.Brand) string {
	accent, ok := parseColour(b.Accent)
	if !ok {
		accent = house
	}
	light := fmt.Sprintf("--accent:%s;--on-accent:%s;--accent-text:%s", accent, textOn(accent), legible(accent, black, lightBackgrounds(accent)...))
	dark := fmt.Sprintf("--accent-text:%s", legible(accent, white, darkBackgrounds(accent)...))
	// The selector weighs as much as the style sheet's own, which comes before.
	var s strings.Builder
	fmt.Fprintf(&s, ":root[data-dark]{%s}\n", light)
	if fonts := families(b.Font); fonts != "" {
		fmt.Fprintf(&s, ":root[data-dark]{--font:%s,system-ui,sans-serif}\n", fonts)
	}
	switch b.Dark {
	case "on":
		fmt.Fprintf(&s, ":root[data-dark]{%s}\n", dark)
	case "off":
	default:
		fmt.Fprintf(&s, "@media (prefers-color-scheme:dark){:root[data-dark]{%s}}\n", dark)
	}
	return s.String()
}

// families quotes the families of a font. They are installed ones: the pages load
// nothing from elsewhere.
func families(font string) string {
	var quoted []string
	for name := range strings.SplitSeq(font, ",") {
		name = strings.Map(func(r rune) rune {
			if r == ' ' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				return r
			}
			return -1
		}, name)
		if name = strings.TrimSpace(name); name != "" {
			quoted = append(quoted, `"`+name+`"`)
		}
	}
	return strings.Join(quoted, ",")
}

// themePrefix is what the paths of style sheets begin with.
const themePrefix = "/theme-"

// themeName is a style sheet's path: another one has another.
func themeName(css string) string {
	sum := sha256.Sum256([]byte(css))
	return themePrefix + hex.EncodeToString(sum[:8]) + ".css"
}
