// Package limits counts requests against the rate limits across all pods
// (spec, Limits). The counts are rows of shared tables; a pod takes small
// blocks of tokens out of them and hands them to its requests, so most
// requests cost no trip to the database, and never is one granted too many.
//
// The block a pod asks for shrinks to the requests that are waiting as the
// limit nears, and what is not used goes back after a quarter of a second, so
// no request is refused while another pod sits on tokens.
package limits
