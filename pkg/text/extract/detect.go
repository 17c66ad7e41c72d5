package extract

import (
	"bytes"
	"encoding/json"
	"mime"
	"path"
	"strings"
)

// byName are the endings of file names.
var byName = map[string]string{
	".csv": TypeCSV, ".tsv": TypeCSV, ".txt": TypeText, ".text": TypeText, ".log": TypeText,
	".md": TypeMarkdown, ".markdown": TypeMarkdown, ".html": TypeHTML, ".htm": TypeHTML, ".xhtml": TypeHTML, ".json": TypeJSON,
}

// byDeclared are types that senders write, besides our own.
var byDeclared = map[string]string{
	"text/tab-separated-values": TypeCSV, "application/csv": TypeCSV, "text/x-markdown": TypeMarkdown,
	"application/xhtml+xml": TypeHTML, "text/json": TypeJSON, "application/ld+json": TypeJSON,
	TypeCSV: TypeCSV, TypeText: TypeText, TypeMarkdown: TypeMarkdown, TypeHTML: TypeHTML, TypeJSON: TypeJSON,
}

// byPart are the main parts of the OOXML archives.
var byPart = map[string]string{
	"word/document.xml": TypeDOCX, "ppt/presentation.xml": TypePPTX, "xl/workbook.xml": TypeXLSX,
}

// Detect says what a document is: by its content where that is certain, else by the
// ending of its name, else by the type its sender declared. The name may be empty, or
// a URL's path. The error is [ErrUnsupported].
func Detect(filename, declared string, data []byte) (contentType string, err error) {
	switch {
	case bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")):
		return TypePDF, nil
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		return detectZip(data)
	case binary(data):
		return "", ErrUnsupported
	}
	if t, ok := byName[strings.ToLower(path.Ext(filename))]; ok {
		return t, nil
	}
	media, _, _ := mime.ParseMediaType(declared)
	named, known := byDeclared[strings.ToLower(media)]
	switch {
	case known && named != TypeText:
		return named, nil
	case looksHTML(data):
		return TypeHTML, nil
	case looksJSON(data):
		return TypeJSON, nil
	case known, media == "" && path.Ext(filename) == "":
		return TypeText, nil
	case strings.HasPrefix(media, "text/") && !strings.HasSuffix(media, "css") && !strings.HasSuffix(media, "javascript"):
		return TypeText, nil
	}
	return "", ErrUnsupported
}

func detectZip(data []byte) (string, error) {
	archive, err := openZip(data)
	if err != nil {
		return "", ErrUnsupported
	}
	for _, f := range archive.File {
		if t, ok := byPart[strings.TrimPrefix(f.Name, "/")]; ok {
			return t, nil
		}
	}
	return "", ErrUnsupported
}

func looksHTML(data []byte) bool {
	start := strings.ToLower(strings.TrimSpace(decode(data[:min(len(data), 1024)&^1])))
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if strings.HasPrefix(start, tag) {
			return true
		}
	}
	return false
}

func looksJSON(data []byte) bool {
	trimmed := bytes.TrimSpace(data)
	return len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid(trimmed)
}
