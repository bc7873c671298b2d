package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	sampled := flag.Int("sample", 0, "break that many `rules` alone, which the commit's hash chooses; 0: all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, filepath.Join("test", "mutants"), *sampled, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run runs every mutant, those that are named, or a sample: from the module's root.
func run(ctx context.Context, dir string, sampled int, names []string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	ms, err := load(dir)
	if err != nil {
		return err
	}
	switch {
	case len(names) > 0:
		ms, err = named(ms, names)
	case sampled > 0:
		var s seed
		if s, err = seedOf(ctx, root, ms); err == nil {
			ms = sample(ms, sampled, s)
			fmt.Printf("%d mutants, chosen by %s\n", len(ms), s)
		}
	}
	if err != nil {
		return err
	}
	var unseen []string
	for _, m := range ms {
		begin := time.Now()
		if err := m.run(ctx, root); err != nil {
			unseen = append(unseen, m.name())
			fmt.Printf("%-40s %s: %v\n", m.name(), m.breaks, err)
			continue
		}
		fmt.Printf("%-40s seen by %s (%.1fs)\n", m.name(), m.test, time.Since(begin).Seconds())
	}
	if len(unseen) > 0 {
		return fmt.Errorf("%d of %d mutants were not seen; again: make mutants ARGS=%q", len(unseen), len(ms), strings.Join(unseen, " "))
	}
	return nil
}

// named returns the mutants of these names, which must be there.
func named(all []mutant, names []string) ([]mutant, error) {
	byName := make(map[string]mutant, len(all))
	for _, m := range all {
		byName[m.name()] = m
	}
	ms := make([]mutant, len(names))
	for i, n := range names {
		m, ok := byName[n]
		if !ok {
			return nil, fmt.Errorf("no patch is called %s", n)
		}
		ms[i] = m
	}
	return ms, nil
}
