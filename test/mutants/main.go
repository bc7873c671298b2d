package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := all(ctx, filepath.Join("test", "mutants"), os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// all runs every mutant, or those that are named: from the module's root.
func all(ctx context.Context, dir string, names []string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	ms, err := load(dir)
	if err != nil {
		return err
	}
	bad, ran := 0, 0
	for _, m := range ms {
		name := filepath.Base(m.file)
		if !chosen(name, names) {
			continue
		}
		ran++
		if err := m.run(ctx, root); err != nil {
			bad++
			fmt.Printf("%-40s %s: %v\n", name, m.breaks, err)
			continue
		}
		fmt.Printf("%-40s seen by %s\n", name, m.test)
	}
	if ran == 0 {
		return fmt.Errorf("no patch in %s is called %s", dir, strings.Join(names, " or "))
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d mutants were not seen", bad, ran)
	}
	return nil
}

func chosen(name string, names []string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return len(names) == 0
}
