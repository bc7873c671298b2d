// A unified diff, as the API answers it, line by line.
export interface PatchLine {
  kind: "add" | "del" | "same" | "gap";
  text: string;
  before?: number;
  after?: number;
}

const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

export function parsePatch(diff: string): PatchLine[] {
  const lines: PatchLine[] = [];
  let before = 0;
  let after = 0;
  let begun = false;
  for (const line of diff.split("\n")) {
    const head = hunk.exec(line);
    if (head) {
      before = Number(head[1]);
      after = Number(head[2]);
      if (begun) lines.push({ kind: "gap", text: "" });
      begun = true;
    } else if (!begun || line === "") {
      continue; // the names of the two sides, the end
    } else if (line.startsWith("+")) {
      lines.push({ kind: "add", text: line.slice(1), after: after++ });
    } else if (line.startsWith("-")) {
      lines.push({ kind: "del", text: line.slice(1), before: before++ });
    } else if (line.startsWith(" ")) {
      lines.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
    }
  }
  return lines;
}
