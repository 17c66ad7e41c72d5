package typeset

import (
	"encoding/binary"
	"errors"
	"slices"
)

// errFont says that a font is not as fonts are.
var errFont = errors.New("typeset: a font cannot be read")

// tablesOf are the tables of a font by their names.
func tablesOf(data []byte) (map[string][]byte, error) {
	if len(data) < 12 {
		return nil, errFont
	}
	found := map[string][]byte{}
	for i := range int(binary.BigEndian.Uint16(data[4:])) {
		at := 12 + 16*i
		if len(data) < at+16 {
			return nil, errFont
		}
		from, size := int(binary.BigEndian.Uint32(data[at+8:])), int(binary.BigEndian.Uint32(data[at+12:]))
		if from+size > len(data) {
			return nil, errFont
		}
		found[string(data[at:at+4])] = data[from : from+size]
	}
	return found, nil
}

// subset is a font with the outlines of some glyphs alone, which keep their numbers, as PDFs
// embed it (OpenType, glyf).
func subset(data []byte, wanted map[uint16]bool) ([]byte, error) {
	tables, err := tablesOf(data)
	if err != nil {
		return nil, err
	}
	head, loca, glyf, maxp, hhea, hmtx := tables["head"], tables["loca"], tables["glyf"], tables["maxp"], tables["hhea"], tables["hmtx"]
	if len(head) < 54 || len(maxp) < 6 || len(hhea) < 36 || len(glyf) == 0 {
		return nil, errFont
	}
	long := binary.BigEndian.Uint16(head[50:]) == 1
	outline := func(g uint16) []byte {
		from, end := place(loca, int(g), long), place(loca, int(g)+1, long)
		if from < 0 || end < from || end > len(glyf) {
			return nil
		}
		return glyf[from:end]
	}
	last := closure(wanted, outline)
	count := int(last) + 1
	newGlyf, newLoca := []byte{}, make([]byte, 0, 4*(count+1))
	for g := range count {
		newLoca = binary.BigEndian.AppendUint32(newLoca, uint32(len(newGlyf)))
		if wanted[uint16(g)] {
			newGlyf = append(newGlyf, outline(uint16(g))...)
			newGlyf = append(newGlyf, make([]byte, (4-len(newGlyf)%4)%4)...)
		}
	}
	newLoca = binary.BigEndian.AppendUint32(newLoca, uint32(len(newGlyf)))
	metrics := min(int(binary.BigEndian.Uint16(hhea[34:])), count)
	end := 4*metrics + 2*(count-metrics)
	if end > len(hmtx) {
		return nil, errFont
	}
	head, maxp, hhea = slices.Clone(head), slices.Clone(maxp), slices.Clone(hhea)
	binary.BigEndian.PutUint16(head[50:], 1)
	binary.BigEndian.PutUint16(maxp[4:], uint16(count))
	binary.BigEndian.PutUint16(hhea[34:], uint16(metrics))
	kept := map[string][]byte{"head": head, "hhea": hhea, "hmtx": hmtx[:end], "loca": newLoca, "maxp": maxp, "glyf": newGlyf}
	for _, name := range []string{"cvt ", "fpgm", "prep"} {
		if t, ok := tables[name]; ok {
			kept[name] = t
		}
	}
	return assemble(kept), nil
}

// place is where a glyph's outline begins; -1 where the font has none.
func place(loca []byte, g int, long bool) int {
	switch {
	case long && len(loca) >= 4*g+4:
		return int(binary.BigEndian.Uint32(loca[4*g:]))
	case !long && len(loca) >= 2*g+2:
		return 2 * int(binary.BigEndian.Uint16(loca[2*g:]))
	}
	return -1
}

// closure adds the glyphs that others are put together of, and answers the last.
func closure(wanted map[uint16]bool, outline func(uint16) []byte) (last uint16) {
	wanted[0] = true
	waiting := make([]uint16, 0, len(wanted))
	for g := range wanted {
		waiting = append(waiting, g)
	}
	for len(waiting) > 0 {
		g := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		last = max(last, g)
		for _, part := range parts(outline(g)) {
			if !wanted[part] {
				wanted[part] = true
				waiting = append(waiting, part)
			}
		}
	}
	return last
}

// parts are the glyphs that a compound one is put together of.
func parts(outline []byte) (found []uint16) {
	if len(outline) < 10 || outline[0] < 0x80 { // the number of contours is not negative
		return nil
	}
	const words, scale, more, scales, matrix = 0x1, 0x8, 0x20, 0x40, 0x80
	for at := 10; at+4 <= len(outline); {
		flags := binary.BigEndian.Uint16(outline[at:])
		found = append(found, binary.BigEndian.Uint16(outline[at+2:]))
		at += 6
		if flags&words != 0 {
			at += 2
		}
		switch {
		case flags&scale != 0:
			at += 2
		case flags&scales != 0:
			at += 4
		case flags&matrix != 0:
			at += 8
		}
		if flags&more == 0 {
			break
		}
	}
	return found
}

// assemble writes a font of tables.
func assemble(tables map[string][]byte) []byte {
	names := make([]string, 0, len(tables))
	for name := range tables {
		names = append(names, name)
	}
	slices.Sort(names)
	power, log := 1, 0
	for 2*power <= len(names) {
		power, log = 2*power, log+1
	}
	out := []byte{0, 1, 0, 0}
	for _, n := range []int{len(names), 16 * power, log, 16 * (len(names) - power)} {
		out = binary.BigEndian.AppendUint16(out, uint16(n))
	}
	body, start := []byte{}, len(out)+16*len(names)
	for _, name := range names {
		t := tables[name]
		out = append(out, name...)
		for _, n := range []uint32{checksum(t), uint32(start + len(body)), uint32(len(t))} {
			out = binary.BigEndian.AppendUint32(out, n)
		}
		body = append(body, t...)
		body = append(body, make([]byte, (4-len(body)%4)%4)...)
	}
	return append(out, body...)
}

func checksum(t []byte) (sum uint32) {
	for i := 0; i < len(t); i += 4 {
		var word [4]byte
		copy(word[:], t[i:])
		sum += binary.BigEndian.Uint32(word[:])
	}
	return sum
}
