// Command goclient is a gRPC client and server of grpc-go that the tests drive: it reads
// a command per line and answers each with a line of JSON. GRPC_XDS_BOOTSTRAP names its
// bootstrap. It is a module of its own, so that the product does not depend on what
// grpc-go's xDS client depends on.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"
)

// answer is one line.
type answer struct {
	Code    string `json:"code"`
	Reply   string `json:"reply,omitempty"`
	Details string `json:"details,omitempty"`
}

type app struct {
	channels map[string]*grpc.ClientConn
	modes    chan answer // what the server became
}

func main() {
	a := app{channels: map[string]*grpc.ClientConn{}, modes: make(chan answer, 100)}
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := out.Encode(a.do(strings.Fields(in.Text()))); err != nil {
			return // nobody reads any more
		}
	}
}

// do runs a command: "open ID TARGET", "call ID MILLISECONDS", "calls ID NUMBER", "close ID",
// "serve ADDRESS REPLY", or "mode MILLISECONDS", which waits for what the server becomes.
func (a *app) do(words []string) answer {
	var err error
	switch {
	case len(words) == 3 && words[0] == "open":
		a.channels[words[1]], err = grpc.NewClient(words[2], grpc.WithTransportCredentials(insecure.NewCredentials()))
	case len(words) == 3 && words[0] == "call" && a.channels[words[1]] != nil:
		return a.call(words[1], words[2])
	case len(words) == 3 && words[0] == "calls" && a.channels[words[1]] != nil:
		return a.calls(words[1], words[2])
	case len(words) == 2 && words[0] == "close" && a.channels[words[1]] != nil:
		err = a.channels[words[1]].Close()
	case len(words) == 3 && words[0] == "serve":
		err = a.serve(words[1], words[2])
	case len(words) == 2 && words[0] == "mode":
		select {
		case m := <-a.modes:
			return m
		case <-time.After(milliseconds(words[1])):
			err = errors.New("the server has not changed")
		}
	default:
		err = fmt.Errorf("no such command: %q", words)
	}
	if err != nil {
		return answer{Code: "UNKNOWN", Details: err.Error()}
	}
	return answer{Code: "OK"}
}

func milliseconds(s string) time.Duration {
	n, _ := strconv.Atoi(s) // 0 is none
	return time.Duration(n) * time.Millisecond
}

func (a *app) call(id, ms string) answer {
	ctx, cancel := context.WithTimeout(context.Background(), milliseconds(ms))
	defer cancel()
	var reply []byte
	err := a.channels[id].Invoke(ctx, "/fairlead.test.Backend/Who", []byte(nil), &reply, grpc.ForceCodecV2(raw{}))
	s := status.Convert(err)
	return answer{Code: codeName(s), Reply: string(reply), Details: s.Message()}
}

// atOnce is how many calls of "calls" are under way at the same time.
const atOnce = 8

// calls makes so many, every seventh of them to a method that fails; the reply says how many went well and how many did not.
func (a *app) calls(id, number string) answer {
	n, err := strconv.Atoi(number)
	if err != nil {
		return answer{Code: "UNKNOWN", Details: err.Error()}
	}
	var next, failed atomic.Int64
	var callers sync.WaitGroup
	for range atOnce {
		callers.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				method := "/fairlead.test.Backend/Who"
				if i%7 == 0 {
					method = "/fairlead.test.Backend/Fail"
				}
				var reply []byte
				if a.channels[id].Invoke(context.Background(), method, []byte(nil), &reply, grpc.ForceCodecV2(raw{})) != nil {
					failed.Add(1)
				}
			}
		})
	}
	callers.Wait()
	return answer{Code: "OK", Reply: fmt.Sprint(int64(n)-failed.Load(), " ", failed.Load())}
}

// codeName is the name that every other implementation prints.
func codeName(s *status.Status) string {
	text, _ := json.Marshal(uint32(s.Code()))
	names := []string{
		"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
	}
	if n := int(s.Code()); n < len(names) {
		return names[n]
	}
	return string(text)
}

// serve runs a server that asks for the listener of its address.
func (a *app) serve(address, reply string) error {
	lis, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	srv, err := xds.NewGRPCServer(
		grpc.ForceServerCodecV2(raw{}),
		xds.ServingModeCallback(func(_ net.Addr, args xds.ServingModeChangeArgs) {
			m := answer{Code: "NOT_SERVING"}
			if args.Mode == connectivity.ServingModeServing {
				m.Code = "SERVING"
			}
			if args.Err != nil {
				m.Details = args.Err.Error()
			}
			a.modes <- m
		}))
	if err != nil {
		return err
	}
	srv.RegisterService(&grpc.ServiceDesc{ServiceName: "fairlead.test.Backend", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Who",
		Handler: func(_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
			var request []byte
			if err := decode(&request); err != nil {
				return nil, err
			}
			answer := func(context.Context, any) (any, error) { return []byte(reply), nil }
			if intercept == nil {
				return answer(ctx, request)
			}
			return intercept(ctx, request, &grpc.UnaryServerInfo{FullMethod: "/fairlead.test.Backend/Who"}, answer)
		},
	}}}, struct{}{})
	go func() { a.modes <- answer{Code: "ENDED", Details: fmt.Sprint(srv.Serve(lis))} }()
	return nil
}

// raw passes bytes on as they are.
type raw struct{}

func (raw) Name() string { return "raw" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("raw: %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	p, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("raw: %T", v)
	}
	*p = data.Materialize()
	return nil
}
