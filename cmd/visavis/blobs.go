package main

// The kinds of bucket that --files can name.
import (
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/s3blob"

	_ "visavis.dev/pkg/store/file/gcs"
)
