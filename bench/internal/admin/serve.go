package admin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
)

// Serve answers xDS on one address and the driver on the other, until the process is told to
// end or one of them fails.
func Serve(xdsAddress, adminAddress string, g *grpc.Server, b Backend) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	x, err := net.Listen("tcp", xdsAddress)
	if err != nil {
		return err
	}
	a, err := net.Listen("tcp", adminAddress)
	if err != nil {
		return errors.Join(err, x.Close())
	}
	srv := &http.Server{Handler: Handler(b), ReadHeaderTimeout: 5 * time.Second}
	var failed [2]error
	var wg sync.WaitGroup
	wg.Go(func() {
		defer stop()
		failed[0] = g.Serve(x)
	})
	wg.Go(func() {
		defer stop()
		if err := srv.Serve(a); !errors.Is(err, http.ErrServerClosed) {
			failed[1] = err
		}
	})
	<-ctx.Done()
	g.Stop()
	failed[1] = errors.Join(failed[1], srv.Close())
	wg.Wait()
	return errors.Join(failed[:]...)
}
