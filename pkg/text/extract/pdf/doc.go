// Package pdf reads the text of PDF files that strangers sent, with pdfium in a
// WebAssembly sandbox: what a hostile file makes of it reaches neither memory nor
// files of the process, and its memory is bounded.
//
// Text comes in the order of reading as pdfium has it, line by line, right-to-left
// scripts in the order they are spoken. Values of forms are part of it. A file that
// opens without a password is read even though it is encrypted; scanned pages have no
// text.
package pdf
