// Command promrules evaluates alerting rules without a Prometheus: it runs tests in the format of `promtool test rules`, of which it knows what
// ours use. The building of promtool takes minutes, this takes a third of that. It also writes the dashboards.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

const usage = `usage: promrules test FILE...        run the tests of rules that these files hold
       promrules dashboards FOLDER   write Grafana's dashboards
`

func main() {
	if len(os.Args) < 3 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "test":
		err = testFiles(os.Args[2:])
	case "dashboards":
		err = writeDashboards(os.Args[2])
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "promrules:", err)
		os.Exit(1)
	}
}

func testFiles(files []string) error {
	failed := 0
	for _, file := range files {
		failures, err := runTests(context.Background(), file)
		if err != nil {
			return err
		}
		for _, f := range failures {
			fmt.Fprintf(os.Stderr, "%s: %s\n", file, f)
		}
		failed += len(failures)
	}
	if failed > 0 {
		return fmt.Errorf("%d expectations do not hold", failed)
	}
	return nil
}

func writeDashboards(folder string) error {
	for name, d := range dashboards() {
		b, err := d.json()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, name+".json"), b, 0o644); err != nil { //nolint:gosec // everybody may read it
			return err
		}
	}
	return nil
}
