package localpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"sync"

	"fairlead/internal/childproc"
	"fairlead/internal/fleet"
)

// Superuser is the role that owns the cluster.
const Superuser = "postgres"

// defaultPort only names the socket's file when TCP is off.
const defaultPort = 5432

// Config is a private Postgres.
type Config struct {
	// Bin is the directory that Find returned.
	Bin string
	// DataDir holds the data, the socket and the password. An ephemeral server makes a
	// directory of its own in it; "" is then memory where there is some, else the
	// temporary directory. A lasting one must name it.
	DataDir string
	// Ephemeral trades everything for speed: nothing survives a crash of the machine, and
	// Stop removes the data.
	Ephemeral bool
	// TCP opens a loopback port as well, chosen by the kernel; every TCP client needs a
	// password.
	TCP bool
	// MaxConnections is Postgres's max_connections; 0 is 100.
	MaxConnections int
	// Settings are further settings, name to value, that win over ours.
	Settings map[string]string
	// Env are variables that its processes get beside our own few, as NAME=VALUE.
	Env []string
	// Log takes what Postgres writes; nil throws it away.
	Log io.Writer
	// Event is told, in whole sentences, what Run does about a server that died; nil is
	// silence.
	Event func(string)
}

// Server is a running Postgres.
type Server struct {
	config   Config
	layout   *layout
	password string
	log      *tail

	replacing sync.Mutex // held while one postmaster is put in the place of another

	mu      sync.Mutex // guards what follows
	proc    *childproc.Process
	port    int // of the last start; the same for every restart
	stopped bool
}

// Start makes the cluster if there is none and starts Postgres, which takes half a
// second from nothing. A Postgres that outlived a crash of ours in the same DataDir is
// stopped first. It is ready for connections when Start returns; ctx bounds the start
// alone.
func Start(ctx context.Context, c Config) (*Server, error) {
	if c.Bin == "" || c.DataDir == "" && !c.Ephemeral {
		return nil, fmt.Errorf("start Postgres: Bin and DataDir must be set: %w", fleet.ErrInvalid)
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 100
	}
	if c.Event == nil {
		c.Event = func(string) {}
	}
	as, err := account()
	if err != nil {
		return nil, err
	}
	if err := reachable(c.Bin, as, "its program"); err != nil {
		return nil, err
	}
	l, err := prepare(c, as)
	if err != nil {
		return nil, err
	}
	s := &Server{config: c, layout: l, log: &tail{next: c.Log}}
	if err := s.first(ctx); err != nil {
		l.close()
		return nil, err
	}
	return s, nil
}

func (s *Server) first(ctx context.Context) (err error) {
	if s.password, err = s.layout.password(); err != nil {
		return err
	}
	if err := s.cluster(ctx); err != nil {
		return err
	}
	return s.launch(ctx)
}

// URL is a connection string for the Unix socket. Who can read it but cannot enter the
// socket's directory cannot use it. It stays the same over restarts.
func (s *Server) URL(db, role string) string {
	return s.connection("", db, role)
}

// TCPURL is a connection string for the loopback port, with the superuser's password:
// another role must have been given it (Password) before it can use this. It is "" if
// TCP was not asked for.
func (s *Server) TCPURL(db, role string) string {
	if !s.config.TCP {
		return ""
	}
	return s.connection("127.0.0.1", db, role)
}

func (s *Server) connection(host, db, role string) string {
	u := url.URL{Scheme: "postgres", Path: "/" + db, User: url.User(role)}
	port := strconv.Itoa(s.Port())
	if host == "" {
		u.RawQuery = url.Values{"host": {s.layout.run}, "port": {port}}.Encode()
		return u.String()
	}
	u.Host, u.User = host+":"+port, url.UserPassword(role, s.password)
	u.RawQuery = "sslmode=disable"
	return u.String()
}

// Password is the superuser's, for TCP.
func (s *Server) Password() string { return s.password }

// SocketDir is the directory of the Unix socket.
func (s *Server) SocketDir() string { return s.layout.run }

// DataDir is the directory that holds all that belongs to the server.
func (s *Server) DataDir() string { return s.layout.base }

// Port is the port in the socket's name, and of TCP if that was asked for.
func (s *Server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.port
}

// PID is the postmaster's process id.
func (s *Server) PID() int { return s.process().PID() }

// Done is closed when the present postmaster has ended. After a restart it is another
// channel.
func (s *Server) Done() <-chan struct{} { return s.process().Done() }

func (s *Server) process() *childproc.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proc
}

// Kill ends the postmaster with SIGKILL, as a crash would, and returns when it is gone.
// Its children end a moment later by themselves. Run starts it again.
func (s *Server) Kill() { s.process().Kill() }

// Stop ends Postgres in order, clients or not, and gives the data directory free, or
// removes it if the server is ephemeral. A ctx that ends turns it into a kill. Only the
// first call does anything.
func (s *Server) Stop(ctx context.Context) error {
	s.replacing.Lock() // a restart that has begun comes to its end first
	defer s.replacing.Unlock()
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return nil
	}
	s.stopped = true
	proc := s.proc
	s.mu.Unlock()
	defer s.layout.close()

	var wg sync.WaitGroup
	ended := make(chan struct{})
	wg.Go(func() {
		select {
		case <-ctx.Done():
			proc.Kill()
		case <-ended:
		}
	})
	err := proc.Stop()
	close(ended)
	wg.Wait()
	// What the postmaster could not end must not go on in a directory that is not ours any more.
	return errors.Join(err, endOrphans(s.layout.data, stopSignal(s.config.Ephemeral)))
}
