package dev

import (
	"fmt"
	"io"
	"sync"
)

// console prints for people; parts that run beside each other share it.
type console struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func newConsole(w io.Writer) *console { return &console{w: w} }

// say prints one line.
func (c *console) say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = fmt.Fprintf(c.w, format+"\n", args...)
}

// progress prints a sentence as it is.
func (c *console) progress(sentence string) { c.say("%s", sentence) }
