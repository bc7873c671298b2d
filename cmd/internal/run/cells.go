package run

import (
	"fmt"
	"io"
	"os"
	"regexp"

	"sigs.k8s.io/yaml"

	"fairlead/internal/fleet"
	"fairlead/internal/seal"
)

const (
	maxCells     = 16
	maxCellsFile = 64 << 10 // bytes
)

var cellName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$`)

// CellsFile names the databases of a server that has several.
type CellsFile struct {
	File string `name:"cells-file" env:"FAIRLEAD_CELLS_FILE" xor:"database" required:"" type:"path" placeholder:"FILE" help:"Several databases instead of --database-url, each with its tenants: YAML with their names and URLs, which nobody else may read (docs/cells.md)."`
}

// Cell is one of several databases, with the tenants that live there.
type Cell struct {
	Name        string `json:"name"`
	DatabaseURL string `json:"database_url"`
	ListenURL   string `json:"listen_database_url"` // of xDS servers
	ReadURL     string `json:"read_database_url"`   // likewise
}

// Cells reads the file; nil where there is none, and one database without a name. No error holds any of a URL.
func (c CellsFile) Cells(d Database) ([]Cell, error) {
	if c.File == "" {
		return nil, nil
	}
	text, err := readPrivate(c.File, maxCellsFile, "change the passwords in it")
	if err != nil {
		return nil, fmt.Errorf("--cells-file: %w", err)
	}
	var file struct {
		Cells []Cell `json:"cells"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil { // its text may hold a password
		return nil, fmt.Errorf("--cells-file: %s cannot be read%s: write \"cells:\", and of each \"- name:\", \"database_url:\" and nothing that docs/cells.md does not name: %w",
			c.File, lineOf(err), fleet.ErrInvalid)
	}
	if n := len(file.Cells); n == 0 || n > maxCells {
		return nil, fmt.Errorf("--cells-file: %s has %d cells: write 1 to %d: %w", c.File, n, maxCells, fleet.ErrInvalid)
	}
	if err := checkCells(file.Cells, d); err != nil {
		return nil, fmt.Errorf("--cells-file: %s: %w", c.File, err)
	}
	return file.Cells, nil
}

var yamlLine = regexp.MustCompile(`\bline \d+\b`)

// lineOf says at which line an error of YAML is, if it does.
func lineOf(err error) string {
	if line := yamlLine.FindString(err.Error()); line != "" {
		return " (" + line + ")"
	}
	return ""
}

func checkCells(cells []Cell, d Database) error {
	names, urls := map[string]bool{}, map[string]string{}
	for i, c := range cells {
		switch other, twice := urls[c.DatabaseURL]; {
		case !cellName.MatchString(c.Name):
			return fmt.Errorf("the name of cell %d is none: write 1 to 32 of a-z, 0-9 and -, with no - at either end: %w", i+1, fleet.ErrInvalid)
		case names[c.Name]:
			return fmt.Errorf("there are two cells %s: give each another name: %w", c.Name, fleet.ErrInvalid)
		case c.DatabaseURL == "":
			return fmt.Errorf("cell %s has no database_url: %w", c.Name, fleet.ErrInvalid)
		case twice:
			return fmt.Errorf("the cells %s and %s have the same database_url: each has a database of its own: %w", other, c.Name, fleet.ErrInvalid)
		}
		names[c.Name], urls[c.DatabaseURL] = true, c.Name
		if err := c.checkURLs(d); err != nil {
			return err
		}
	}
	return nil
}

func (c Cell) checkURLs(d Database) error {
	for _, x := range []struct{ member, url string }{{"database_url", c.DatabaseURL}, {"listen_database_url", c.ListenURL}, {"read_database_url", c.ReadURL}} {
		if x.url == "" {
			continue
		}
		if err := d.CheckURL(x.member+" of cell "+c.Name, x.url); err != nil {
			return err
		}
	}
	return nil
}

// readPrivate reads a file with secrets that nobody else may use. leaked is what to do if somebody may have read it.
func readPrivate(path string, most int64, leaked string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if seal.Loose(info) {
		return nil, fmt.Errorf("others than the owner may use %s (mode %04o): run \"chmod 600 %s\", and %s if somebody may have read it: %w",
			path, info.Mode().Perm(), path, leaked, fleet.ErrInvalid)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes: %w", path, most, fleet.ErrInvalid)
	}
	return text, err
}
