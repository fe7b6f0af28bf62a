package place

// The driver for s3:// is the AWS SDK, some 12 MB of the program. It stands in a
// file of its own so that who builds without it removes one file.
import _ "gocloud.dev/blob/s3blob"
