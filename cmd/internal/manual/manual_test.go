package manual

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// line is a command line with what can be said of one.
type line struct {
	Serve serve `cmd:"" help:"Serve."`
	Token struct {
		Add struct {
			Name string `arg:"" help:"Its name."`
		} `cmd:"" help:"Add one."`
		Old struct{} `cmd:"" hidden:"" help:"Old."`
	} `cmd:"" help:"Tokens."`
	Secret struct{} `cmd:"" hidden:"" help:"Not shown."`
}

type serve struct {
	Files  []string `arg:"" optional:"" help:"Files."`
	Listen string   `name:"listen" short:"l" env:"LISTEN" default:"127.0.0.1:1" help:"Address's port."`
	URL    string   `name:"url" required:"" placeholder:"URL" help:"Where."`
	Format string   `name:"format" enum:"text,json" default:"text" help:"Form."`
	Quiet  bool     `name:"quiet" help:"Say nothing."`
	Hidden string   `name:"hidden" hidden:"" help:"Not shown."`
}

func (serve) Help() string { return ".begins with a dot\n'and a quote \\ with more\n\nSecond." }

func model(t *testing.T) *kong.Application {
	t.Helper()
	k, err := kong.New(&line{}, kong.Name("srv"), kong.Description("A server."))
	if err != nil {
		t.Fatal(err)
	}
	return k.Model
}

const servePage = `.TH "FAIRLEAD\-SRV\-SERVE" "8" "2026-11-29" "Fairlead 1.2.3" "Fairlead"
.SH NAME
fairlead\-srv\-serve \- Serve
.SH SYNOPSIS
\fBsrv serve\fR \-\-url=URL [FLAGS] [<files> ...]
.SH DESCRIPTION
Serve.
.PP
\&.begins with a dot
.br
\(aqand a quote \e with more
.PP
Second.
.SH ARGUMENTS
.TP
\fIfiles\fR
Files.
.SH FLAGS
.TP
\fB\-l, \-\-listen="127.0.0.1:1"\fR
Address\(aqs port. Default: 127.0.0.1:1. ($LISTEN)
.TP
\fB\-\-url=URL\fR
Where.
.TP
\fB\-\-format="text"\fR
Form. One of text, json. Default: text.
.TP
\fB\-\-quiet\fR
Say nothing.
.SH SEE ALSO
fairlead\-srv(8)
`

func TestPages(t *testing.T) {
	t.Parallel()
	pages := Pages(model(t), Config{Name: "fairlead-srv", Section: 8, Date: "2026-11-29", Version: "1.2.3", More: []Part{{"Exit status", "0 all is well"}}, See: []string{"fairlead(1)"}})
	names := []string{}
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"fairlead-srv-serve.8", "fairlead-srv-token.8", "fairlead-srv.8"}, names); diff != "" {
		t.Errorf("the pages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(servePage, pages["fairlead-srv-serve.8"]); diff != "" {
		t.Errorf("a command's page (-want +got):\n%s", diff)
	}
	for page, wants := range map[string][]string{
		"fairlead-srv-token.8": {".SS srv token add\n", "\\fIname\\fR\nIts name.\n"},
		"fairlead-srv.8":       {"\\- A server\n", "\\fBserve\\fR\nServe.\n", ".SH EXIT STATUS\n0 all is well\n", "\\-\\-help", "fairlead(1), fairlead\\-srv\\-serve(8), fairlead\\-srv\\-token(8)\n"},
	} {
		for _, want := range wants {
			if !strings.Contains(pages[page], want) {
				t.Errorf("%s has no %q:\n%s", page, want, pages[page])
			}
		}
		if strings.Contains(pages[page], "Not shown") || strings.Contains(pages[page], "Old.") {
			t.Errorf("%s tells what is hidden:\n%s", page, pages[page])
		}
	}
}

func TestAsked(t *testing.T) {
	t.Parallel()
	dir, app := t.TempDir(), model(t)
	for _, args := range [][]string{nil, {"serve"}, {Word}, {Word, dir}, {"serve", dir, "2026-11-29"}} {
		if asked, err := Asked(args, app, Config{Section: 1}); asked || err != nil {
			t.Errorf("%v: %t, %v", args, asked, err)
		}
	}
	if asked, err := Asked([]string{Word, dir, "2026-11-29"}, app, Config{Section: 1}); !asked || err != nil {
		t.Fatal(asked, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "srv.1")); err != nil || !strings.Contains(string(text), `"1" "2026-11-29"`) {
		t.Errorf("%v, %s", err, text)
	}
	if asked, err := Asked([]string{Word, filepath.Join(dir, "none"), "2026-11-29"}, app, Config{Section: 1}); !asked || err == nil {
		t.Errorf("into a folder that is not there: %t, %v", asked, err)
	}
}
