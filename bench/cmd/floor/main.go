// Command floor is the lower bound of an xDS server on grpc-go: one with no logic.
package main

import (
	"flag"
	"fmt"
	"os"

	"google.golang.org/grpc"

	"fairlead/bench/internal/admin"
	"fairlead/bench/internal/floor"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:18000", "address for xDS clients")
	adminAddress := flag.String("admin", "127.0.0.1:18001", "address of /set, /change, /memory and profiles")
	flag.Parse()
	s := floor.New()
	g := grpc.NewServer(grpc.ForceServerCodecV2(floor.Codec{}), grpc.UnknownServiceHandler(s.Serve))
	if err := admin.Serve(*listen, *adminAddress, g, s); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}
