// Tabs that follow the same share one event stream: over HTTP/1.1 a browser has six connections to a server, for all its
// tabs. The oldest of them holds it and tells the others. Each newcomer opens one, and closes it when an older tab speaks up;
// when the one that holds it goes or falls silent, the others do as newcomers do.
import { openStream, type LiveState, type Tells } from "./stream";

const beatEvery = 2000;
const silence = 7000;

type News = { kind: "here"; rank: number; state: LiveState; heard?: boolean } | { kind: "changed"; what?: readonly string[] | undefined } | { kind: "trouble" } | { kind: "gone" };

/** Follows until the returned function is called. missed: something may have changed since the last time. */
export function share(url: string, check: () => Promise<boolean>, tell: Omit<Tells, "trouble">, missed: boolean): () => void {
  const rank = performance.timeOrigin + performance.now() + Math.random(); // the oldest is the least
  const channel = new BroadcastChannel(`fairlead${url}`);
  const say = (news: News) => channel.postMessage(news);
  let close: (() => void) | undefined;
  let state: LiveState = "connecting";
  let beat: ReturnType<typeof setInterval> | undefined;
  let watch: ReturnType<typeof setTimeout> | undefined;
  let heard = false; // since the last beat
  const here = () => {
    say({ kind: "here", rank, state, heard });
    heard = false;
  };

  const lead = () => {
    clearTimeout(watch);
    state = "connecting";
    close = openStream(url, check, {
      missed,
      state: (next) => {
        state = next;
        tell.state(next);
        here();
      },
      heard: () => {
        heard = true;
        tell.heard();
      },
      changed: (what) => {
        missed = false;
        tell.changed(what);
        say({ kind: "changed", what });
      },
      trouble: () => say({ kind: "trouble" }),
    });
    beat = setInterval(here, beatEvery);
    here();
  };
  const letGo = () => {
    clearInterval(beat);
    clearTimeout(watch);
    close?.();
    close = undefined;
  };
  const again = () => {
    letGo();
    missed = true; // between the streams
    lead();
  };

  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!isNews(data)) return;
    if (data.kind === "here") {
      if (close && rank < data.rank) {
        here();
        return;
      }
      letGo();
      watch = setTimeout(again, silence);
      if (data.heard) tell.heard();
      tell.state(data.state);
      if (missed && data.state === "live") {
        missed = false;
        tell.changed();
      }
    } else if (data.kind === "changed") tell.changed(data.what); // its own stream may be closed for the older tab's before it tells
    else if (close) return; // it has its own stream
    else if (data.kind === "trouble") void check();
    else again();
  };
  lead();
  return () => {
    if (close) say({ kind: "gone" });
    letGo();
    channel.close();
  };
}

/** Another tab may be of another version of this page. */
function isNews(x: unknown): x is News {
  if (typeof x !== "object" || x === null || !("kind" in x)) return false;
  if (x.kind === "here") return "rank" in x && typeof x.rank === "number" && "state" in x;
  return x.kind === "changed" || x.kind === "trouble" || x.kind === "gone";
}
