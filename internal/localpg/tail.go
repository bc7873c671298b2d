package localpg

import (
	"io"
	"strings"
	"sync"
)

// tailBytes is how much of the log an error may quote from.
const tailBytes = 4 << 10

// tail passes everything on and remembers the end.
type tail struct {
	next io.Writer
	mu   sync.Mutex // guards end
	end  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.end = append(t.end, p...)
	if over := len(t.end) - tailBytes; over > 0 {
		t.end = append([]byte(nil), t.end[over:]...)
	}
	t.mu.Unlock()
	if t.next != nil {
		_, _ = t.next.Write(p) // a log that cannot be written must not stop the server
	}
	return len(p), nil
}

func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = nil
}

// text is the end of what was written, without the empty lines around it.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.end))
}
