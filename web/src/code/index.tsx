// Code on screen. The editor is large and comes when it is first needed.
import { Skeleton } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { DiffProps } from "./diff";
import type { EditorProps } from "./editor";

const LazyEditor = lazy(() => import("./editor").then((m) => ({ default: m.CodeEditor })));
const LazyDiff = lazy(() => import("./diff").then((m) => ({ default: m.DiffEditor })));

/** An editor of YAML or JSON, or with readOnly a view that can be searched, with marks at lines. */
export function Code(props: EditorProps) {
  return (
    <Suspense fallback={<Skeleton h={props.height ?? 320} role="progressbar" aria-label="Loading" />}>
      <LazyEditor {...props} />
    </Suspense>
  );
}

/** Two texts side by side, or one below the other where there is no room. */
export function Diff(props: DiffProps) {
  return (
    <Suspense fallback={<Skeleton h={props.height ?? 320} role="progressbar" aria-label="Loading" />}>
      <LazyDiff {...props} />
    </Suspense>
  );
}

export type { Language, Mark } from "./editor";
