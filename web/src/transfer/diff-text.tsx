// A unified diff as text, each line with its sign and a colour.
import { Box } from "@mantine/core";

export function DiffText({ text, label }: { text: string; label: string }) {
  return (
    <Box component="pre" tabIndex={0} aria-label={label} className="copy-block" bg="var(--mantine-color-body)" m={0} p="sm" fz="0.8rem" ff="monospace" mah="24rem" maw="100%" style={{ overflow: "auto", whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
      {text.split("\n").map((line, i) => (
        <Box key={i} component="span" display="block" c={colorOf(line)}>
          {line === "" ? " " : line}
        </Box>
      ))}
    </Box>
  );
}

function colorOf(line: string): string {
  if (line.startsWith("+") && !line.startsWith("+++")) return "light-dark(var(--mantine-color-teal-9), var(--mantine-color-teal-4))";
  if (line.startsWith("-") && !line.startsWith("---")) return "light-dark(var(--mantine-color-red-9), var(--mantine-color-red-4))";
  if (line.startsWith("@@")) return "dimmed";
  return "inherit";
}
