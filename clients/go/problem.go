package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Answer is what every method of ClientWithResponses returns.
type Answer interface {
	StatusCode() int
	GetBody() []byte
}

// Check returns nil if the API did what it was asked, and else an error: a *Problem if the answer is one, which it
// is unless something else than the API answered.
func Check(a Answer) error {
	if a.StatusCode()/100 == 2 {
		return nil
	}
	p := new(Problem)
	if json.Unmarshal(a.GetBody(), p) != nil || p.Code == "" {
		return fmt.Errorf("an answer %d %s that is not the API's", a.StatusCode(), http.StatusText(a.StatusCode()))
	}
	return p
}

// Error implements error: the status, the code, the sentence, and a line for each fault of the input.
func (p *Problem) Error() string {
	words := p.Title
	if p.Detail != nil {
		words = *p.Detail
	}
	lines := []string{fmt.Sprintf("%d %s: %s (request %s)", p.Status, p.Code, words, p.RequestId)}
	if p.Errors != nil {
		for _, e := range *p.Errors {
			lines = append(lines, "  "+e.place()+": "+e.Detail)
		}
	}
	return strings.Join(lines, "\n")
}

// place is where the fault is: a pointer into the body, or a parameter.
func (e FieldError) place() string {
	switch {
	case e.Parameter != nil:
		return *e.Parameter
	case e.Pointer != nil && *e.Pointer != "":
		return *e.Pointer
	}
	return "the body"
}
