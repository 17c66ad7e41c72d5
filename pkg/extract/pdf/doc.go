// Package pdf reads the text of PDF files (ISO 32000-1) that strangers sent.
//
// It reads objects by scanning the file, not by its cross-reference table: a table
// can be broken, or loop, and costs what it says it costs; the scan costs what the
// file is long. Everything else is bounded as well: nesting, the number of objects,
// pages and text runs, and the bytes that come out of compressed streams. Nothing
// recurses without a depth, and a context ends the work.
//
// What it understands is what text needs: object streams, the lossless filters,
// simple and composite fonts with their encodings and ToUnicode maps, and forms drawn
// within pages. Text comes in the order the page draws it, which is the order of
// reading for nearly every producer. Scanned pages have no text, encrypted files are
// refused, and predefined CJK maps other than the Unicode ones are unknown here.
package pdf
