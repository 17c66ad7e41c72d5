package route

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/spool"
)

// Upload lets an operation take multipart/form-data with one file in place of
// JSON. The form's other fields become properties of the body that the handler
// gets, and are checked as those of JSON are.
type Upload struct {
	// Field is the form's name of the file.
	Field string
	// Texts are the fields that become properties, and Lists those of them that
	// can be sent several times and become a list.
	Texts, Lists []string
	// Flags are fields that become properties which are true or false.
	Flags []string
	// Always are properties that a form's body has besides, such as its kind.
	Always map[string]any
	// MaxBytes is the largest file that the caller may send.
	MaxBytes func(*Call) int64
}

// Uploaded is a file that came with a request. It lies on disk until the request
// is answered, so that callers who send slowly hold no memory.
type Uploaded struct {
	// Name is the last part of the name it was sent under, at most 255 bytes;
	// it may be empty.
	Name string
	// ContentType is what the caller says it is.
	ContentType string
	Size        int64
	SHA256      [sha256.Size]byte

	stored *spool.File
	held   *spool.Reservation
}

// Bytes reads the whole file into memory. The error can be a problem.
func (f *Uploaded) Bytes() ([]byte, error) {
	if err := f.held.Grow(f.Size); err != nil {
		return nil, overBudget(err)
	}
	data := make([]byte, f.Size)
	_, err := io.ReadFull(f.stored.Section(0, f.Size), data)
	return data, err
}

func (f *Uploaded) discard() {
	if f != nil {
		f.stored.Close()
	}
}

const (
	// maxFormField bounds a field that is no file, maxFormFields their number.
	maxFormField  = 16 << 10
	maxFormFields = 64
	// maxFormRest bounds what a form has around its file.
	maxFormRest = 1 << 20
	maxFileName = 255
)

func (u *Upload) check(o Operation) {
	if u.Field == "" || u.MaxBytes == nil || !o.hasBody() {
		panic("operation " + o.ID + " declares an upload that nothing can be sent to")
	}
}

// formBoundary says whether the request is a form that the operation takes.
func (c *Call) formBoundary() (string, bool) {
	if c.Op.Upload == nil {
		return "", false
	}
	mediaType, params, err := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	return params["boundary"], err == nil && mediaType == "multipart/form-data"
}

// readForm reads a form to its end, within the bound on its file, and makes
// the body of it.
func (c *Call) readForm(boundary string) error {
	form := form{upload: c.Op.Upload, limit: c.Op.Upload.MaxBytes(c), body: map[string]any{}}
	if c.request.ContentLength > form.limit+maxFormRest {
		return form.tooLarge("body")
	}
	form.temporary = c.service.Temporary
	a := c.receive(form.limit + maxFormRest)
	form.parts = multipart.NewReader(a, boundary)
	err := form.read()
	c.upload = form.file // also to be discarded after a failure
	if err != nil {
		return form.explain(err)
	}
	a.arrived()
	c.held.Release() // the file is on disk
	form.file.held = c.held
	maps.Copy(form.body, form.upload.Always)
	text := encode(form.body)
	if err := c.take(text); err != nil {
		return err
	}
	c.restart()
	c.request.Header.Set("Content-Type", "application/json")
	// The same form has another boundary each time it is sent.
	c.body = fmt.Appendf(nil, "%s\n%q\n%q\n%s", text, form.file.Name, form.file.ContentType, hex.EncodeToString(form.file.SHA256[:]))
	return nil
}

// form is one that is being read.
type form struct {
	upload *Upload
	limit  int64
	parts  *multipart.Reader
	// temporary is where the file lies.
	temporary spool.Folder
	fields    int
	body      map[string]any
	file      *Uploaded
}

func (f *form) read() error {
	for {
		part, err := f.parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if part.FormName() == f.upload.Field {
			err = f.takeFile(part)
		} else {
			err = f.takeField(part)
		}
		if err != nil {
			return err
		}
	}
	if f.file == nil && f.fields == 0 {
		return problem.Invalid("body", "The body is no form, or one without fields.")
	}
	if f.file == nil {
		return problem.Invalid("body."+f.upload.Field, "body.%s is required.", f.upload.Field)
	}
	return nil
}

func (f *form) takeFile(part *multipart.Part) error {
	if f.file != nil {
		return problem.Invalid("body."+f.upload.Field, "Send one file.")
	}
	stored, err := f.temporary.Create()
	if err != nil {
		return err
	}
	f.file = &Uploaded{Name: fileName(part.FileName()), ContentType: part.Header.Get("Content-Type"), stored: stored}
	sum := sha256.New()
	f.file.Size, err = io.Copy(io.MultiWriter(stored, sum), io.LimitReader(part, f.limit+1))
	if err == nil && f.file.Size > f.limit {
		err = f.tooLarge("body." + f.upload.Field)
	}
	sum.Sum(f.file.SHA256[:0])
	return err
}

// fileName is a name without folders that can be kept and shown.
func fileName(sent string) string {
	name := path.Base(strings.ReplaceAll(strings.ToValidUTF8(sent, ""), `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, name)
	for len(name) > maxFileName {
		_, last := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-last]
	}
	if name == "." || name == ".." || name == "/" {
		return ""
	}
	return name
}

func (f *form) takeField(part *multipart.Part) error {
	name := part.FormName()
	if f.fields++; f.fields > maxFormFields || !utf8.ValidString(name) {
		return problem.Invalid("body", "The form has too many fields, or one whose name is no text.")
	}
	param := "body." + name
	value, err := io.ReadAll(io.LimitReader(part, maxFormField+1))
	switch {
	case err != nil:
		return err
	case len(value) > maxFormField:
		return problem.New(problem.TooLarge, "%s is larger than %d bytes.", param, maxFormField).WithParam(param)
	case !utf8.Valid(value):
		return problem.Invalid(param, "%s must be valid UTF-8.", param)
	case slices.Contains(f.upload.Lists, name):
		list, _ := f.body[name].([]string)
		f.body[name] = append(list, string(value))
		return nil
	case !slices.Contains(f.upload.Texts, name) && !slices.Contains(f.upload.Flags, name) || f.body[name] != nil:
		return problem.Invalid("body", "The form has a field that is not known, or one of them twice.")
	case slices.Contains(f.upload.Flags, name):
		if text := string(value); text != "true" && text != "false" {
			return problem.Invalid(param, "%s is true or false.", param)
		}
		f.body[name] = string(value) == "true"
		return nil
	}
	f.body[name] = string(value)
	return nil
}

func (f *form) tooLarge(param string) *problem.Problem {
	return problem.New(problem.TooLarge, "The file may have at most %d bytes.", f.limit).WithParam(param)
}

// explain says what is wrong with a form.
func (f *form) explain(err error) error {
	if _, ok := errors.AsType[*problem.Problem](err); ok || errors.Is(err, spool.ErrDiskFull) {
		return overBudget(err)
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return f.tooLarge("body")
	}
	if _, ok := errors.AsType[*os.PathError](err); ok {
		return overBudget(err)
	}
	return problem.Invalid("body", "The form could not be read to its end.").WithCause(err)
}

// document adds the form to what is documented of the operation's requests.
func (u *Upload) document(requestBody, schemas object) {
	content := requestBody["content"].(object)
	of := content["application/json"].(object)["schema"].(object)
	if ref, ok := of["$ref"].(string); ok {
		of = schemas[ref[strings.LastIndex(ref, "/")+1:]].(object)
	}
	known := of["properties"].(object)
	properties := object{u.Field: object{
		"type": "string", "contentMediaType": "application/octet-stream", "description": "The file's bytes, with its name and media type.",
	}}
	for _, name := range slices.Concat(u.Texts, u.Lists, u.Flags) {
		properties[name] = known[name]
	}
	content["multipart/form-data"] = object{"schema": object{
		"type": "object", "required": []any{u.Field}, "properties": properties, "additionalProperties": false,
	}, "example": object{u.Field: "(the file's bytes)"}}
}
