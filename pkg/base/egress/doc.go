// Package egress is the one way out: every request to an address that a
// customer gave (a picture, a webhook, a page to crawl, a model endpoint) is
// made through its [Guard].
//
// A customer's URL is an instruction to this server to connect somewhere, and
// this server can reach things the customer cannot: loopback services, the
// private network, the cloud's metadata endpoint. The guard therefore
//
//   - accepts only plain https URLs ([Guard.CheckURL]), and http to the operator's own
//     ranges where that is asked for ([Guard.Beside]),
//   - resolves the host itself, classifies every address of the answer
//     ([Classify]) and refuses the host if any of them is not public,
//   - connects to exactly the addresses it checked, so that a second DNS answer
//     (rebinding) has nothing to act on, and checks once more at the socket,
//   - follows no redirect, uses no proxy, verifies TLS, and bounds the time, the
//     header and the body of every exchange.
//
// [Guard.Fetch] gets one URL, [Guard.Client] is for those who need any request, and
// [Target.Post] is for those who post to the same URL many times a second: it checks
// the form once, looks the host up for every attempt, and keeps connections apart by
// the addresses they were made to.
//
// Failures are typed (see [RefusedError], [InvalidURLError], [StatusError],
// [NetworkError], [RedirectError], [ErrTimeout], [ErrTooLarge]); their texts name
// no address and may be shown to the customer.
//
// What does not live here: retries, webhook signatures, robots.txt, picture
// decoding, and requests to addresses the operator configured (the database, the
// object store), which need no guard. A network that translates a prefix of its
// own to IPv4 (NAT64 other than 64:ff9b::/96 and 64:ff9b:1::/48) cannot be
// recognised from here and needs a firewall.
package egress
