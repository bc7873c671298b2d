// Code on screen. The editor is large and comes when it is first needed.
import { Skeleton } from "@mantine/core";
import { Suspense } from "react";
import { later } from "../ui/later";
import type { DiffProps } from "./diff";
import type { EditorProps } from "./editor";

const LazyEditor = later(() => import("./editor").then((m) => m.CodeEditor));
const LazyDiff = later(() => import("./diff").then((m) => m.DiffEditor));

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
