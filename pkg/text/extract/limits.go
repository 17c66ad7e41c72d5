package extract

// What is read of a document at most. docs/documents.md tells the same to callers.
const (
	// MaxBytes bounds the file itself.
	MaxBytes = 50 << 20
	// maxText bounds its text, in bytes.
	maxText = 20 << 20
	// maxUnpacked bounds what its archive unpacks to, and maxPart a single part of that,
	// in bytes.
	maxUnpacked = 200 << 20
	maxPart     = 100 << 20
	// maxEntries bounds the files of an archive.
	maxEntries = 10_000
	// maxHeading bounds a heading, in bytes: each passage below it is kept and found with it.
	// What is longer is text of its section too.
	maxHeading = 500
	// maxNesting bounds what is within one another: elements, objects, lists, quotes.
	maxNesting = 256
	// maxElements bounds the elements of XML, maxTags those of HTML, maxValues the
	// values of JSON and maxLines the lines of plain text and Markdown.
	maxElements = 5_000_000
	maxTags     = 500_000
	maxValues   = 2_000_000
	maxLines    = 1_000_000
	// maxSections bounds its sections, each of which is a passage at least: they leave the
	// process that reads the document, and take more there than their bytes.
	maxSections = 50_000
	// maxCells bounds the cells of all tables, those that are empty too, and maxStrings
	// the different strings of a workbook.
	maxCells   = 2_000_000
	maxStrings = 500_000
)
