// Two texts beside each other, with what differs; below each other where there is no room.
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorView } from "@codemirror/view";
import { useComputedColorScheme } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useEffect, useRef } from "react";
import { base, type Language } from "./look";

export interface DiffProps {
  label: string;
  before: string;
  after: string;
  language: Language;
  height?: number;
}

export function DiffEditor({ label, before, after, language, height = 480 }: DiffProps) {
  const parent = useRef<HTMLDivElement>(null);
  const wide = useMediaQuery("(min-width: 62em)", true, { getInitialValueInEffect: false });
  const dark = useComputedColorScheme("light") === "dark";
  useEffect(() => {
    if (!parent.current) return undefined;
    const collapse = { margin: 3, minSize: 6 };
    if (wide) {
      const merged = new MergeView({
        parent: parent.current,
        a: { doc: before, extensions: base(language, `${label}, before`, true, dark) },
        b: { doc: after, extensions: base(language, `${label}, after`, true, dark) },
        collapseUnchanged: collapse,
        gutter: true,
      });
      return () => merged.destroy();
    }
    const one = new EditorView({
      parent: parent.current,
      doc: after,
      extensions: [...base(language, label, true, dark), unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: collapse })],
    });
    return () => one.destroy();
  }, [label, before, after, language, wide, dark]);
  return <div ref={parent} className="code" style={{ maxHeight: height }} />;
}
