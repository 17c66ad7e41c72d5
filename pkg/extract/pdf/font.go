package pdf

import "strings"

// font turns the codes of shown strings into text and widths.
type font struct {
	composite bool // codes of several bytes
	unicode   bool // the codes are UTF-16 themselves
	space     *cmap
	toUnicode *cmap
	table     table
	widths    map[int]float64 // thousandths of the font's size, by code
	width     float64         // of all other codes
}

// glyph is one shown code.
type glyph struct {
	text  string
	width float64 // in units of the font's size
	blank bool    // the code is a single byte 32, which word spacing applies to
}

func (f *File) font(v any) (*font, error) {
	r, shared := v.(ref)
	if known := f.fonts[r]; shared && known != nil {
		return known, nil
	}
	made, err := f.newFont(f.dict(v))
	if err == nil && shared {
		f.fonts[r] = made
	}
	return made, err
}

func (f *File) newFont(d dict) (*font, error) {
	out := &font{widths: map[int]float64{}, width: 500, composite: f.name(d["Subtype"]) == "Type0"}
	if s, ok := f.get(d["ToUnicode"]).(*stream); ok {
		data, err := f.decode(s)
		if err != nil {
			return nil, err
		}
		out.toUnicode = parseCMap(data)
	}
	if out.composite {
		return out, f.compose(out, d)
	}
	out.table = f.simpleTable(d)
	first := number(f.get(d["FirstChar"]))
	for i, w := range f.array(d["Widths"]) {
		if width, ok := f.get(w).(float64); ok && i < 256 {
			out.widths[first+i] = width
		}
	}
	return out, nil
}

func (f *File) simpleTable(d dict) table {
	switch e := f.get(d["Encoding"]).(type) {
	case name:
		return baseTable(e)
	case dict:
		t := baseTable(f.name(e["BaseEncoding"]))
		code := 0
		for _, v := range f.array(e["Differences"]) {
			switch v := f.get(v).(type) {
			case float64:
				code = number(v)
			case name:
				if 0 <= code && code < len(t) {
					t[code] = glyphText(string(v))
				}
				code++
			}
		}
		return t
	}
	if f.name(d["Subtype"]) == "TrueType" {
		return baseTable("WinAnsiEncoding")
	}
	return baseTable("StandardEncoding")
}

// compose reads what a composite font adds: the lengths of its codes, and the
// widths of its descendant (section 9.7.4.3).
func (f *File) compose(out *font, d dict) error {
	switch e := f.get(d["Encoding"]).(type) {
	case name:
		out.unicode = strings.Contains(string(e), "UCS2") || strings.Contains(string(e), "UTF16")
	case *stream:
		data, err := f.decode(e)
		if err != nil {
			return err
		}
		out.space = parseCMap(data)
	}
	out.width = 1000
	descendants := f.array(d["DescendantFonts"])
	if len(descendants) == 0 {
		return nil
	}
	descendant := f.dict(descendants[0])
	if w, ok := f.get(descendant["DW"]).(float64); ok {
		out.width = w
	}
	w := f.array(descendant["W"])
	for i := 0; i+1 < len(w); {
		first := number(f.get(w[i]))
		if list, ok := f.get(w[i+1]).(array); ok {
			for j, v := range list {
				out.setWidth(first+j, f.get(v))
			}
			i += 2
			continue
		}
		if i+2 < len(w) {
			for code := first; code <= min(number(f.get(w[i+1])), 1<<16); code++ {
				out.setWidth(code, f.get(w[i+2]))
			}
		}
		i += 3
	}
	return nil
}

func (o *font) setWidth(code int, v any) {
	if w, ok := v.(float64); ok && 0 <= code && code < 1<<16 {
		o.widths[code] = w
	}
}

// glyph takes the first code of s, which is not empty, and gives what is left.
func (o *font) glyph(s string) (glyph, string) {
	n := 1
	if o.composite {
		n = min(2, len(s))
		switch {
		case o.space != nil:
			n = o.space.next(s, 2)
		case o.toUnicode != nil && !o.unicode:
			n = o.toUnicode.next(s, 2)
		}
	}
	code := s[:n]
	g := glyph{blank: code == " ", width: o.width / 1000}
	if w, ok := o.widths[codeNumber(code)]; ok {
		g.width = w / 1000
	}
	g.text = o.text(code)
	return g, s[n:]
}

func (o *font) text(code string) string {
	if o.toUnicode != nil {
		if s, ok := o.toUnicode.lookup(code); ok && s != "" {
			return s
		}
	}
	switch {
	case o.unicode:
		return decodeUTF16(code)
	case o.composite:
		return ""
	}
	return o.table[code[0]]
}
