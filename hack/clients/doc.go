// Package clients proves that the generators people use make clients of the OpenAPI
// documents.
package clients
