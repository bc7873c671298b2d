package filesync

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// watchLimit is how many files an Envoy on this machine can watch, 0 where that is not known: each subscription takes an inotify
// instance of its own.
func watchLimit() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_instances")
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return n
}

// tellWatches warns once of more files than an Envoy can watch, until they are fewer again.
func (s *Sync) tellWatches() {
	files := len(s.content.named) + len(wholes)
	switch limit := s.watches(); {
	case limit == 0 || files <= limit:
		s.toldWatches = false
	case !s.toldWatches:
		s.toldWatches = true
		s.Log(fmt.Sprintf("warning: these are %d files, and an Envoy on a machine like this one can watch %d: it ends where it needs more. Raise the limit: sysctl fs.inotify.max_user_instances=8192", files, limit))
	}
}
