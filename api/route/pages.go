package route

import "net/http"

// preflightFor is how long a browser remembers that it may ask, in seconds.
const preflightFor = "600"

// preflight answers a browser that asks whether a page of another origin may
// make a request. It is told yes for every page, since nothing is known yet but
// the path: whether the page gets an answer that it can read is decided with
// the request.
func (s *Service) preflight(c *Call, r *http.Request) bool {
	origin, method := r.Header.Get("Origin"), r.Header.Get("Access-Control-Request-Method")
	if r.Method != http.MethodOptions || origin == "" || method == "" {
		return false
	}
	o := s.fromPages(method, r)
	if o == nil {
		return false
	}
	c.Op = o
	c.AllowOrigin(origin)
	c.SetHeader("Access-Control-Allow-Methods", o.Method)
	c.SetHeader("Access-Control-Allow-Headers", "Content-Type, X-Session-Token")
	c.SetHeader("Access-Control-Max-Age", preflightFor)
	c.writer.WriteHeader(http.StatusNoContent)
	return true
}

// fromPages finds the operation that pages may call with a method at a
// request's path; nil where there is none.
func (s *Service) fromPages(method string, r *http.Request) *Operation {
	if o, _ := s.find(method, r.URL.Path); o != nil && o.FromPages {
		return o
	}
	return nil
}

// openToPages lets any page read what the chain refuses: that follows from the
// request and its address alone, and tells nothing of what it asks for. The
// handler decides anew.
func (c *Call) openToPages(o *Operation) {
	if origin := c.request.Header.Get("Origin"); o != nil && o.FromPages && origin != "" {
		c.AllowOrigin(origin)
	}
}

// closeToPages takes openToPages back.
func (c *Call) closeToPages() {
	c.writer.Header().Del("Access-Control-Allow-Origin")
	c.writer.Header().Del("Access-Control-Expose-Headers")
}

// AllowOrigin lets a page of an origin read the answer, whatever it is.
func (c *Call) AllowOrigin(origin string) {
	// Another origin gets another answer, also from a cache on the way.
	c.SetHeader("Vary", "Origin")
	c.SetHeader("Access-Control-Allow-Origin", origin)
	c.SetHeader("Access-Control-Expose-Headers", "ETag, Retry-After, X-Request-Id")
}
