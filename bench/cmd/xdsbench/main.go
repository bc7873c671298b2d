// Command xdsbench loads several xDS servers, which take turns, over a grid of fleet sizes,
// and makes a table of what they cost. docs/performance.md says how to read it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"fairlead/bench/internal/load"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "xdsbench:", err)
		stop()
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "load" {
		return loadOnce(ctx)
	}
	var b bench
	flags := flag.NewFlagSet("xdsbench", flag.ExitOnError)
	b.flags(flags)
	table := flags.String("report", "", "print a table of the results in this `file`, in Markdown, and exit")
	detail := flags.Bool("detail", false, "with -report: every figure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *table != "" {
		return report(os.Stdout, *table, *detail)
	}
	if err := b.run(ctx); err != nil {
		return err
	}
	return report(os.Stdout, b.out, *detail)
}

// loadOnce makes the load that standard input asks for.
func loadOnce(ctx context.Context) error {
	var cfg load.Config
	if err := json.NewDecoder(os.Stdin).Decode(&cfg); err != nil {
		return err
	}
	r, err := load.New(cfg)
	if err != nil {
		return err
	}
	res, err := r.Run(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}
