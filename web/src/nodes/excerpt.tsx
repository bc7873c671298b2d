// Some lines of a text with the words about one of them right below it.
import type { Place } from "./place";

const around = 4;

export function Excerpt({ label, text, place, words }: { label: string; text: string; place: Place; words: string }) {
  const lines = text.replace(/\n$/, "").split("\n");
  const first = Math.max(1, place.line - around);
  const shown = lines.slice(first - 1, place.line + around);
  return (
    <ol className="excerpt" aria-label={label}>
      {shown.map((line, i) => {
        const number = first + i;
        const fault = number === place.line;
        return [
          <li key={number} data-fault={fault} aria-current={fault ? "location" : undefined}>
            <span className="number">{number}</span>
            <span className="line">{line === "" ? " " : line}</span>
          </li>,
          fault && (
            <li key="said" className="said">
              {words}
            </li>
          ),
        ];
      })}
    </ol>
  );
}
