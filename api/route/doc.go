// Package route is where an operation of the API is declared, once, and where
// everything that follows from the declaration is done: routing, the request
// id, who calls, contract, scope, rate limits, idempotency, reading and
// checking input, the envelope, errors, and the OpenAPI documents.
//
// The packages beside it (one a resource group) declare operations and write
// handlers; a handler gets checked input and returns data in the newest
// contract. Package huma, which does schema and validation, is used here and
// nowhere else.
//
// A request passes, in this order: request id, address limit, key, key and
// organization limits, contract, scope, body, input, idempotency, handler.
package route
