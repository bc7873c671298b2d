// Command imagebom writes what is in the image (SPDX), where the Dockerfile builds it. It is a program of its own, as the rest of a release needs
// libraries that the image's builder would have to fetch.
package main

import (
	"flag"
	"fmt"
	"os"

	"fairlead/tools/release/bom"
)

func main() {
	version := flag.String("version", "", "the version of the programs")
	root := flag.String("root", ".", "the source tree")
	bin := flag.String("bin", "", "the folder of the image's programs")
	builder := flag.String("builder", "/", "the root of the system whose certificate authorities the image has")
	out := flag.String("out", "", "the file to write")
	flag.Parse()
	if err := bom.Image(*version, *root, *bin, *builder, *out); err != nil {
		fmt.Fprintln(os.Stderr, "imagebom:", err)
		os.Exit(1)
	}
}
