package storetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// container is a Postgres in Docker: the last resort, on a machine that has no binaries
// and no way to fetch them.
type container struct {
	testcontainers.Container
	address  string
	password string
}

// startContainer fails at once where no Docker engine answers.
func startContainer(ctx context.Context) (*container, error) {
	provider, err := testcontainers.ProviderDocker.GetProvider()
	if err == nil {
		err = provider.Health(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("ask the Docker engine: %w", err)
	}
	c := &container{password: rand.Text()}
	c.Container, err = testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		Started: true,
		ContainerRequest: testcontainers.ContainerRequest{
			Image:        "postgres:18",
			Env:          map[string]string{"POSTGRES_PASSWORD": c.password},
			Cmd:          []string{"postgres", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=400"},
			ExposedPorts: []string{"5432/tcp"},
			// The image starts a server for its own set-up first.
			WaitingFor: wait.ForLog("database system is ready to accept connections").WithOccurrence(2),
		},
	})
	if err != nil {
		return nil, fmt.Errorf("start Postgres in Docker: %w", err)
	}
	host, err := c.Host(ctx)
	if err != nil {
		return c, err
	}
	port, err := c.MappedPort(ctx, "5432/tcp")
	if err != nil {
		return c, err
	}
	c.address = net.JoinHostPort(host, port.Port())
	return c, nil
}

// admit gives the roles that the migrations make the password that URL names.
func (c *container) admit(ctx context.Context) error {
	for _, role := range []string{"fairlead_app", "fairlead_node"} {
		if err := admin(ctx, c, fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", role, c.password)); err != nil {
			return err
		}
	}
	return nil
}

// URL is a connection string for a database and a role.
func (c *container) URL(db, role string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(role, c.password), Host: c.address, Path: "/" + db}
	return u.String()
}

// Stop removes the container.
func (c *container) Stop(ctx context.Context) error { return c.Terminate(ctx) }
