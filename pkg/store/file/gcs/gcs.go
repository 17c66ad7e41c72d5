// Package gcs opens buckets of Google Cloud Storage, gs://bucket, by its XML API, which
// speaks S3's protocol with Google's credentials. The driver that gocloud has for them links
// gRPC and xDS, 20 MB of every program, for an API that is not used here.
package gcs

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// Scheme is what the URLs of buckets begin with.
const Scheme = "gs"

// access is the scope of the tokens: objects are read, written and deleted.
const access = "https://www.googleapis.com/auth/devstorage.read_write"

func init() { blob.DefaultURLMux().RegisterBucket(Scheme, opener{}) }

// opener opens buckets with the credentials that the machine has: those of the file that
// GOOGLE_APPLICATION_CREDENTIALS names, of the user, or of the service account.
type opener struct{}

// OpenBucketURL implements blob.BucketURLOpener.
func (opener) OpenBucketURL(ctx context.Context, u *url.URL) (*blob.Bucket, error) {
	if u.RawQuery != "" || u.Path != "" {
		return nil, fmt.Errorf("open bucket %s: want gs://bucket and nothing after it", u)
	}
	// They get tokens for as long as the bucket is open.
	found, err := google.FindDefaultCredentials(context.WithoutCancel(ctx), access)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", u, err)
	}
	domain, err := found.GetUniverseDomain()
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", u, err)
	}
	return Open(ctx, "https://storage."+domain, u.Host, found.TokenSource)
}

// Open opens a bucket of the XML API at an address, by somebody's tokens.
func Open(ctx context.Context, endpoint, bucket string, tokens oauth2.TokenSource) (*blob.Bucket, error) {
	client := s3.New(s3.Options{
		BaseEndpoint: &endpoint, UsePathStyle: true, Region: "auto",
		// The tokens stand in place of S3's signatures, and Google knows none of its checksums.
		Credentials:                aws.AnonymousCredentials{},
		HTTPClient:                 &http.Client{Transport: &oauth2.Transport{Source: tokens, Base: plain{http.DefaultTransport}}},
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
	})
	return s3blob.OpenBucket(ctx, client, bucket, &s3blob.Options{RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired})
}

// plain leaves headers out that only Amazon knows.
type plain struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Amz-") {
			r.Header.Del(name) // the token's transport made the request, so it is ours
		}
	}
	return p.next.RoundTrip(r)
}
