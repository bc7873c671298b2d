// Two people have changed one document: what each changed alone is taken, what both changed is left to people. By lines.

export interface Merged {
  text: string;
  conflicts: number;
}

export interface Conflict {
  /** Places in the text, markers included. */
  from: number;
  to: number;
  mine: string;
  theirs: string;
}

const open = "<<<<<<< mine";
const middle = "=======";
const close = ">>>>>>> theirs";

export function merge3(base: string, mine: string, theirs: string): Merged {
  const b = linesOf(base);
  const m = linesOf(mine);
  const t = linesOf(theirs);
  const inMine = matches(b, m);
  const inTheirs = matches(b, t);
  const out: string[] = [];
  let conflicts = 0;
  let [at, atMine, atTheirs] = [0, 0, 0];
  const between = (end: number, endMine: number, endTheirs: number) => {
    const was = b.slice(at, end);
    const my = m.slice(atMine, endMine);
    const their = t.slice(atTheirs, endTheirs);
    if (same(my, their) || same(their, was)) out.push(...my);
    else if (same(my, was)) out.push(...their);
    else {
      conflicts++;
      out.push(open, ...my, middle, ...their, close);
    }
  };
  for (let i = 0; i < b.length; i++) {
    const [x, y] = [inMine[i], inTheirs[i]];
    if (x === undefined || y === undefined || x < atMine || y < atTheirs) continue;
    between(i, x, y);
    out.push(b[i] ?? "");
    [at, atMine, atTheirs] = [i + 1, x + 1, y + 1];
  }
  between(b.length, m.length, t.length);
  return { text: out.join("\n"), conflicts };
}

/** The conflicts that are still in a text. */
export function conflictsIn(text: string): Conflict[] {
  const found: Conflict[] = [];
  const pattern = /^<<<<<<< mine\n([\s\S]*?)^=======\n([\s\S]*?)^>>>>>>> theirs(?:\n|$)/gm;
  for (const match of text.matchAll(pattern)) {
    found.push({ from: match.index, to: match.index + match[0].length, mine: match[1] ?? "", theirs: match[2] ?? "" });
  }
  return found;
}

/** The text with one of its conflicts decided. */
export function decide(text: string, { from, to, mine, theirs }: Conflict, take: "mine" | "theirs"): string {
  return text.slice(0, from) + (take === "mine" ? mine : theirs) + text.slice(to);
}

const linesOf = (text: string) => text.split("\n");
const same = (a: readonly string[], b: readonly string[]) => a.length === b.length && a.every((line, i) => line === b[i]);

/** Of each line of a its place in b, for a longest common part. Where that would take too long only what begins and ends alike. */
function matches(a: readonly string[], b: readonly string[]): (number | undefined)[] {
  const found: (number | undefined)[] = a.map(() => undefined);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    found[start] = start;
    start++;
  }
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) {
    found[a.length - 1 - end] = b.length - 1 - end;
    end++;
  }
  const [n, m] = [a.length - start - end, b.length - start - end];
  if (n * m > 16_000_000) return found;
  const width = m + 1;
  const best = new Uint32Array((n + 1) * width);
  const get = (i: number, j: number) => best[i * width + j] ?? 0;
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      best[i * width + j] = a[start + i] === b[start + j] ? get(i + 1, j + 1) + 1 : Math.max(get(i + 1, j), get(i, j + 1));
    }
  }
  for (let i = 0, j = 0; i < n && j < m; ) {
    if (a[start + i] === b[start + j]) found[start + i++] = start + j++;
    else if (get(i + 1, j) >= get(i, j + 1)) i++;
    else j++;
  }
  return found;
}
