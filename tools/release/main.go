// Command release builds everything that is published of one version, the same bytes from the same commit wherever it runs: an archive for each
// platform with the programs, man pages and completions, Debian packages, what is in them (SPDX), how they were built (SLSA), and checksums.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

// platforms are what is built where nobody says otherwise.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var c Config
	flag.StringVar(&c.Version, "version", "", "the version, such as 1.2.3 or 1.2.3-rc.1")
	flag.StringVar(&c.Root, "root", "../..", "the source tree")
	flag.StringVar(&c.Out, "out", "../../dist", "the folder to write into")
	flag.BoolVar(&c.AllowChanges, "allow-changes", false, "build though the tree has changes that are not committed")
	all := flag.String("platforms", platforms, "what to build for")
	flag.Parse()
	c.Platforms = strings.Split(*all, ",")
	err := Release(ctx, c)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
