package route

// Envelope is a successful answer (spec, Envelope).
type Envelope[T any] struct {
	Data      T      `json:"data" doc:"What was asked for."`
	Error     *Null  `json:"error" doc:"Always null: a failure has another form."`
	RequestID string `json:"requestId" doc:"The request's id, also in the X-Request-Id header." example:"req_0683mPq2v9XKf1sTn7ZQ4b"`
}

// ListEnvelope is a page of a list.
type ListEnvelope[T any] struct {
	Data       []T     `json:"data" doc:"The page's items; it can hold fewer than limit and still not be the last."`
	Error      *Null   `json:"error" doc:"Always null: a failure has another form."`
	RequestID  string  `json:"requestId" doc:"The request's id, also in the X-Request-Id header." example:"req_0683mPq2v9XKf1sTn7ZQ4b"`
	NextCursor *string `json:"nextCursor" doc:"Pass it as cursor for the next page; null on the last."`
}

// Deleted is the answer to a deletion.
type Deleted struct {
	Deleted bool   `json:"deleted" enum:"true" doc:"Always true."`
	ID      string `json:"id" doc:"Id of what was deleted."`
}

// Page is what a list's handler returns.
type Page[T any] struct {
	Items []T
	// Next is the cursor of the next page; nil on the last.
	Next *string
}
