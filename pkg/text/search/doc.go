// Package search is a full-text index in memory, one for each knowledge pack:
// analysis of text into terms, an analysed form that a database keeps, and a
// ranking of passages by BM25 with a measure of how much of a question a
// passage covers. It holds no database and reads no documents: its user feeds
// analysed documents in and out.
//
// # A question in one language, documents in another
//
// Words are stemmed by their document's language, and a document's language
// may be wrong. An index could keep each word twice, stemmed and plain, at
// twice the memory. Instead it keeps the documents of each language apart and
// asks every language's documents in that language: the question's words are
// analysed as the documents were. A word therefore meets itself whatever
// language was taken for the question, and also where a document's was
// mistaken, since both sides then err alike. Names, numbers and codes, which
// no stemmer touches, meet across languages. What a word weighs is counted
// over the whole pack. The question's own language decides one thing only:
// which of its words are stop words.
//
// # Stop words
//
// Stop words are indexed, so that a question of nothing else ("The Who")
// finds something, and skipped in every other question.
//
// # Memory
//
// An index is made for many beside one another in one process. A part, the
// documents of one language, is a dictionary that numbers terms ([dictionary]), the
// postings of each number ([postingLists]) and the passages' slots, all in pages
// without pointers ([pages]): a term that occurs once takes about 30 bytes and its
// letters. Size counts what is there without walking it; Build tells beforehand
// what a document adds at most (Weight). Whatever is looked up by term, such as
// other spellings of it or its neighbors in meaning, keys on its number.
//
// # Units
//
// Term and Span count bytes, as Go slices text. Range counts Unicode code
// points, as the API's highlights do.
package search
