package pdf

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// table maps the codes of a simple font to text; "" is unknown.
type table [256]string

func baseTable(encoding name) table {
	var t table
	for code := range t {
		switch encoding {
		case "WinAnsiEncoding":
			t[code] = string(charmap.Windows1252.DecodeByte(byte(code)))
		case "MacRomanEncoding":
			t[code] = string(charmap.Macintosh.DecodeByte(byte(code)))
		default:
			if 0x20 <= code && code < 0x7f {
				t[code] = string(rune(code))
			}
		}
	}
	if encoding != "WinAnsiEncoding" && encoding != "MacRomanEncoding" {
		t['\''], t['`'] = "’", "‘"
		for code, glyph := range standardUpper {
			t[code] = glyph
		}
	}
	return t
}

// standardUpper is the half of StandardEncoding above ASCII (annex D.2).
var standardUpper = map[int]string{
	0xa1: "¡", 0xa2: "¢", 0xa3: "£", 0xa4: "⁄", 0xa5: "¥", 0xa6: "ƒ", 0xa7: "§", 0xa8: "¤", 0xa9: "'", 0xaa: "“",
	0xab: "«", 0xac: "‹", 0xad: "›", 0xae: "fi", 0xaf: "fl", 0xb1: "–", 0xb2: "†", 0xb3: "‡", 0xb4: "·", 0xb6: "¶",
	0xb7: "•", 0xb8: "‚", 0xb9: "„", 0xba: "”", 0xbb: "»", 0xbc: "…", 0xbd: "‰", 0xbf: "¿", 0xd0: "—", 0xe1: "Æ",
	0xe3: "ª", 0xe8: "Ł", 0xe9: "Ø", 0xea: "Œ", 0xeb: "º", 0xf1: "æ", 0xf5: "ı", 0xf8: "ł", 0xf9: "ø", 0xfa: "œ", 0xfb: "ß",
}

// glyphs are the names of the Adobe Glyph List that are neither a letter alone nor
// a letter with an accent.
var glyphs = map[string]string{
	"space": " ", "exclam": "!", "quotedbl": `"`, "numbersign": "#", "dollar": "$", "percent": "%", "ampersand": "&",
	"quotesingle": "'", "quoteright": "’", "parenleft": "(", "parenright": ")", "asterisk": "*", "plus": "+", "comma": ",",
	"hyphen": "-", "period": ".", "slash": "/", "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5",
	"six": "6", "seven": "7", "eight": "8", "nine": "9", "colon": ":", "semicolon": ";", "less": "<", "equal": "=",
	"greater": ">", "question": "?", "at": "@", "bracketleft": "[", "backslash": `\`, "bracketright": "]",
	"asciicircum": "^", "underscore": "_", "quoteleft": "‘", "grave": "`", "braceleft": "{", "bar": "|", "braceright": "}",
	"asciitilde": "~", "exclamdown": "¡", "cent": "¢", "sterling": "£", "fraction": "⁄", "yen": "¥", "florin": "ƒ",
	"section": "§", "currency": "¤", "quotedblleft": "“", "guillemotleft": "«", "guilsinglleft": "‹",
	"guilsinglright": "›", "fi": "fi", "fl": "fl", "ff": "ff", "ffi": "ffi", "ffl": "ffl", "endash": "–", "dagger": "†",
	"daggerdbl": "‡", "periodcentered": "·", "paragraph": "¶", "bullet": "•", "quotesinglbase": "‚", "quotedblbase": "„",
	"quotedblright": "”", "guillemotright": "»", "ellipsis": "…", "perthousand": "‰", "questiondown": "¿", "emdash": "—",
	"AE": "Æ", "ae": "æ", "OE": "Œ", "oe": "œ", "Oslash": "Ø", "oslash": "ø", "Lslash": "Ł", "lslash": "ł", "germandbls": "ß",
	"dotlessi": "ı", "Eth": "Ð", "eth": "ð", "Thorn": "Þ", "thorn": "þ", "ordfeminine": "ª", "ordmasculine": "º",
	"Euro": "€", "trademark": "™", "registered": "®", "copyright": "©", "degree": "°", "plusminus": "±", "multiply": "×",
	"divide": "÷", "mu": "µ", "onehalf": "½", "onequarter": "¼", "threequarters": "¾", "onesuperior": "¹",
	"twosuperior": "²", "threesuperior": "³", "logicalnot": "¬", "brokenbar": "¦", "minus": "−", "nbspace": " ",
	"Dcroat": "Đ", "dcroat": "đ", "Hbar": "Ħ", "hbar": "ħ", "sfthyphen": "\u00ad", "lessequal": "≤", "greaterequal": "≥",
	"notequal": "≠", "infinity": "∞", "arrowright": "→", "arrowleft": "←",
}

// accents are how the list names what a combining mark does to a letter.
var accents = map[string]string{
	"grave": "\u0300", "acute": "\u0301", "circumflex": "\u0302", "tilde": "\u0303", "macron": "\u0304", "breve": "\u0306",
	"dotaccent": "\u0307", "dieresis": "\u0308", "ring": "\u030a", "hungarumlaut": "\u030b", "caron": "\u030c",
	"cedilla": "\u0327", "ogonek": "\u0328", "commaaccent": "\u0327",
}

// glyphText is what the name of a glyph means.
func glyphText(glyph string) string {
	glyph, _, _ = strings.Cut(glyph, ".") // "a.alt" is an "a"
	if s, ok := glyphs[glyph]; ok {
		return s
	}
	if len(glyph) == 1 {
		return glyph
	}
	if hex, ok := strings.CutPrefix(glyph, "uni"); ok && len(hex) >= 4 {
		return hexRune(hex[:4])
	}
	if hex, ok := strings.CutPrefix(glyph, "u"); ok && len(hex) >= 4 {
		return hexRune(hex)
	}
	if len(glyph) > 1 {
		if mark, ok := accents[glyph[1:]]; ok {
			return norm.NFC.String(glyph[:1] + mark)
		}
	}
	return ""
}

func hexRune(hex string) string {
	v, err := strconv.ParseUint(hex, 16, 21)
	if err != nil {
		return ""
	}
	return string(rune(v))
}

func decodeUTF16(s string) string {
	units := make([]uint16, len(s)/2)
	for i := range units {
		units[i] = uint16(s[2*i])<<8 | uint16(s[2*i+1])
	}
	return string(utf16.Decode(units))
}

// decodeText reads a string that is meant for people (section 7.9.2.2).
func decodeText(s string) string {
	if rest, ok := strings.CutPrefix(s, "\xfe\xff"); ok {
		return decodeUTF16(rest)
	}
	if rest, ok := strings.CutPrefix(s, "\xef\xbb\xbf"); ok {
		return rest
	}
	out, _ := charmap.Windows1252.NewDecoder().String(s)
	return out
}
