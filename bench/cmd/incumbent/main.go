// Command incumbent is an xDS server on go-control-plane, to compare with.
package main

import (
	"flag"
	"fmt"
	"os"

	"google.golang.org/grpc"

	"fairlead/bench/internal/admin"
	"fairlead/bench/internal/incumbent"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:18000", "address for xDS clients")
	adminAddress := flag.String("admin", "127.0.0.1:18001", "address of /set, /change, /memory and profiles")
	nodes := flag.Int("nodes", 0, "give each of so many nodes a snapshot of its own; 0: all share one")
	partial := flag.Bool("partial", false, "answer clients of SotW that do not name everything")
	flag.Parse()
	g := grpc.NewServer()
	if err := admin.Serve(*listen, *adminAddress, g, incumbent.New(*nodes, *partial, g)); err != nil {
		fmt.Fprintln(os.Stderr, "incumbent:", err)
		os.Exit(1)
	}
}
