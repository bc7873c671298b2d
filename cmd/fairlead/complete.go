package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"fairlead/internal/fleet"
)

// completionCommand is "fairlead completion".
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is printed with the command's own help.
func (*completionCommand) Help() string {
	return `bash: source <(fairlead completion bash)
zsh: source <(fairlead completion zsh)
fish: fairlead completion fish | source`
}

// completions ask this program itself for the words that may stand at a place.
var completions = map[string]string{
	"bash": `_fairlead() {
  local IFS=$'\n'
  COMPREPLY=($(fairlead __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _fairlead fairlead
`,
	"zsh": `#compdef fairlead
_fairlead() {
  local -a words_found
  words_found=("${(@f)$(fairlead __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${words_found[*]}" ]]; then compadd -a words_found; else _files; fi
}
compdef _fairlead fairlead
`,
	"fish": `function __fairlead_complete
  set -l words (commandline -opc) (commandline -ct)
  fairlead __complete $words[2..-1] 2>/dev/null
end
complete -c fairlead -a '(__fairlead_complete)'
`,
}

// Run prints the shell's script.
func (c *completionCommand) Run(out io.Writer) error {
	_, err := fmt.Fprint(out, completions[c.Shell])
	return err
}

// complete lists what may stand in the place of the last word, one on each line.
func complete(model *kong.Application, words []string, out io.Writer) {
	if len(words) == 0 {
		words = []string{""}
	}
	at, begun := model.Node, words[len(words)-1]
	args := 0
	for _, w := range words[:len(words)-1] {
		if next := command(at, w); next != nil {
			at, args = next, 0
		} else if !strings.HasPrefix(w, "-") {
			args++
		}
	}
	var found []string
	for _, candidate := range candidates(at, begun, args) {
		if strings.HasPrefix(candidate, begun) {
			found = append(found, candidate)
		}
	}
	slices.Sort(found)
	for _, f := range slices.Compact(found) {
		fmt.Fprintln(out, f)
	}
}

func command(n *kong.Node, name string) *kong.Node {
	for _, c := range n.Children {
		if c.Name == name && !c.Hidden {
			return c
		}
	}
	return nil
}

// candidates are the flags where one is begun, else the commands below, else the words of
// the argument, where they are known.
func candidates(at *kong.Node, begun string, args int) (out []string) {
	if strings.HasPrefix(begun, "-") {
		for _, group := range at.AllFlags(true) {
			for _, f := range group {
				out = append(out, "--"+f.Name)
			}
		}
		return out
	}
	for _, c := range at.Children {
		if !c.Hidden {
			out = append(out, c.Name)
		}
	}
	if args < len(at.Positional) {
		arg := at.Positional[args]
		if arg.Name == "type" {
			for _, t := range fleet.Types() {
				out = append(out, t.Slug())
			}
		}
		if arg.Enum != "" {
			out = append(out, arg.EnumSlice()...)
		}
	}
	return out
}
