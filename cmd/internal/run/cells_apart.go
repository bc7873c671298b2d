package run

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"fairlead/internal/fleet"
	"fairlead/internal/lifecycle"
	"fairlead/internal/store"
)

// errOneDatabase tells that two cells are one database. Both would know every token, and so none would be let in.
var errOneDatabase = fmt.Errorf("each cell has a database of its own: %w", fleet.ErrInvalid)

// apart knows which database each cell leads to.
type apart struct {
	mu sync.Mutex
	of map[string]string // by the names of cells
}

// check is errOneDatabase where the cell's URL leads to another one's database, and an error where it leads to none now.
func (a *apart) check(ctx context.Context, cell, url string) error {
	id, err := store.DatabaseID(ctx, url)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for other, is := range a.of {
		if other != cell && is == id {
			return fmt.Errorf("--cells-file: the cells %s and %s lead to one database: %w", min(cell, other), max(cell, other), errOneDatabase)
		}
	}
	if a.of == nil {
		a.of = map[string]string{}
	}
	a.of[cell] = id
	return nil
}

// checkAll checks cells that can be reached at once. One that cannot is left to when it is opened.
func (a *apart) checkAll(ctx context.Context, cells []*xdsCell) error {
	ctx, cancel := context.WithTimeout(ctx, cellPatience)
	defer cancel()
	errs := make([]error, len(cells))
	var all sync.WaitGroup
	for i, c := range cells {
		all.Go(func() { errs[i] = a.checkCell(ctx, c) })
	}
	all.Wait()
	for _, err := range errs {
		if errors.Is(err, errOneDatabase) {
			return err
		}
	}
	return nil
}

func (a *apart) checkCell(ctx context.Context, c *xdsCell) error {
	return lifecycle.Contain(c.log, "the question which database a cell is", func() error { return a.check(ctx, c.name, c.url) })
}
