// Package extract gets the text out of documents that strangers sent, for a pack of
// knowledge that is searched: PDF, Word, PowerPoint and Excel (the OOXML ones), CSV,
// plain text, Markdown, HTML and JSON.
//
// [Detect] says what a document is, [Extract] reads it into sections under headings
// and on pages, and [Chunks] cuts the sections into passages. All text is valid UTF-8
// in NFC without control characters, so that a database takes it.
//
// In a section's text a blank line divides paragraphs, tables and lists; within
// a table or a list every row or item is a line of its own.
//
// Every reader is bounded: in what archives and streams unpack to, in nesting, and in
// the text that comes out. A reader that panics makes a document unreadable and
// nothing worse. A context ends the work, at the next page, row or element, and a
// caller sets a deadline: bounded work on a hostile document may still take minutes.
package extract
