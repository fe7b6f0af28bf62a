package place_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/place"
)

const text = "one\ntwo\n"

func put(t *testing.T, at string) *place.Output {
	t.Helper()
	out, err := place.Create(t.Context(), at, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(out, text); err != nil {
		t.Fatal(err)
	}
	return out
}

func get(t *testing.T, at string, in io.Reader) string {
	t.Helper()
	f, err := place.Open(t.Context(), at, in)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	first, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	second, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("read again: %q, %v", second, err)
	}
	return string(first)
}

// TestPlaces: a file is at its place when it was committed, and nothing else is.
func TestPlaces(t *testing.T) { //nolint:paralleltest // the SDK of S3 reads the environment
	dir := t.TempDir()
	s3 := newS3(t)
	for what, at := range map[string]string{
		"a path": filepath.Join(dir, "x"), "an object in a folder": "file://" + dir + "/y", "an object in S3": s3 + "/deep/z?use_path_style=true",
	} {
		out := put(t, at)
		if err := out.Abort(); err != nil {
			t.Errorf("abort %s: %v", what, err)
		}
		if _, err := place.Open(t.Context(), at, nil); !errors.Is(err, os.ErrNotExist) && dengxu.CodeOf(err) != dengxu.NotFound {
			t.Errorf("%s was aborted: %v", what, err)
		}
		if err := put(t, at).Commit(); err != nil {
			t.Fatalf("commit %s: %v", what, err)
		}
		if got := get(t, at, nil); got != text {
			t.Errorf("%s has %q", what, got)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("left in the folder: %v, %v", files, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "x")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
}

// TestCommitFails has a file that cannot be synced: nothing is at its place, and
// nothing is left beside it.
func TestCommitFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := put(t, filepath.Join(dir, "x"))
	if err := out.Writer.(io.Closer).Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Commit(); err == nil {
		t.Error("a file that is not on disk was committed")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o, err := place.Create(t.Context(), "-", &out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(o, text); err != nil || o.Commit() != nil || out.String() != text {
		t.Errorf("written %q, %v", out.String(), err)
	}
	if got := get(t, "-", strings.NewReader(text)); got != text {
		t.Errorf("read %q", got)
	}
}

func TestWrong(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"s3://bucket", "s3://bucket/folder/", "s3://%zz/x", "ftp://host/x"} {
		if _, err := place.Create(t.Context(), at, nil); err == nil {
			t.Errorf("%s was created", at)
		}
		if _, err := place.Open(t.Context(), at, nil); err == nil {
			t.Errorf("%s was opened", at)
		}
	}
}

// newS3 is a server that speaks as much of S3 as one object needs, and the URL
// of a bucket there.
func newS3(t *testing.T) string {
	t.Helper()
	var mu sync.Mutex
	objects := make(map[string][]byte)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, known := objects[r.URL.Path]
		switch {
		case r.Method == http.MethodPut && r.URL.RawQuery == "x-id=PutObject":
			objects[r.URL.Path] = payload(t, r)
			w.Header().Set("ETag", `"1"`)
		case r.Method == http.MethodGet && known:
			w.Header().Set("ETag", `"1"`)
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = w.Write(body) // the test sees what is missing
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `<Error><Code>NoSuchKey</Code><Message>no</Message></Error>`)
		default:
			t.Errorf("S3 is asked for %s %s", r.Method, r.URL)
			w.WriteHeader(http.StatusNotImplemented)
		}
	}))
	t.Cleanup(s.Close)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "eu-test-1",
		"AWS_ENDPOINT_URL_S3": s.URL, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	return "s3://bucket"
}

// payload reads a body, also one in chunks that are each preceded by their
// length in hexadecimal.
func payload(t *testing.T, r *http.Request) []byte {
	t.Helper()
	if !strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked") {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		return b
	}
	var all []byte
	in := bufio.NewReader(r.Body)
	for {
		head, err := in.ReadString('\n')
		if err != nil {
			t.Error(err)
			return nil
		}
		size, _, _ := strings.Cut(strings.TrimSpace(head), ";")
		n, err := strconv.ParseInt(size, 16, 32)
		if err != nil || n == 0 {
			return all
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(in, chunk); err != nil {
			t.Error(err)
		}
		all = append(all, chunk[:n]...)
	}
}
