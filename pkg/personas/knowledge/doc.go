// Package knowledge keeps packs of documents, reads the documents and finds
// passages in them; and it keeps the questions that the packs do not answer.
//
// A document is added in one commit with the job that reads it (Reader): its
// text is taken out, cut into passages and analysed outside any transaction,
// and becomes searchable in one. Every such commit takes the next revision of
// its pack, and a Searcher asks for what changed since the revision it knows
// before each search. So what one process committed, all find.
//
// What a file's text is, is package extract's business; how a site is read,
// package crawl's; how passages are ranked, package search's.
package knowledge
