// Package crawl gets documents by their address: one page, or a page and what it
// links to on the same host.
//
// Every request goes through [egress.Guard], redirects included: each hop is a new
// address that is checked as the first one was. Hosts are asked politely: what their
// robots.txt forbids is not fetched (RFC 9309), their Crawl-delay is kept up to a
// bound, and one host gets one request at a time from a whole [Crawler].
//
// What a document says is the business of package extract.
package crawl
