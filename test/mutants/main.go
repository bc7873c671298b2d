package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
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
	if unseen := each(os.Stdout, ms, func(m mutant) error { return m.run(ctx, root) }); len(unseen) > 0 {
		return fmt.Errorf("%d of %d mutants were not seen; again: make mutants ARGS=%q", len(unseen), len(ms), strings.Join(unseen, " "))
	}
	return nil
}

// each tries the mutants, two at a time: what a build of one waits for, the linker above all, takes one processor. It returns the names of
// those that were not seen, in the order of the mutants.
func each(out io.Writer, ms []mutant, try func(mutant) error) (unseen []string) {
	errs := make([]error, len(ms))
	var g errgroup.Group
	g.SetLimit(2)
	for i, m := range ms {
		g.Go(func() error {
			begin := time.Now()
			if errs[i] = try(m); errs[i] != nil {
				fmt.Fprintf(out, "%-40s %s: %v\n", m.name(), m.breaks, errs[i])
			} else {
				fmt.Fprintf(out, "%-40s seen by %s (%.1fs)\n", m.name(), m.test, time.Since(begin).Seconds())
			}
			return nil
		})
	}
	_ = g.Wait() // nobody returns an error
	for i, err := range errs {
		if err != nil {
			unseen = append(unseen, ms[i].name())
		}
	}
	return unseen
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
