// One event stream. Where it cannot be had its tab asks every few seconds instead, and tries the stream again.
const pollEvery = 5000;
const tryAgainAfter = 20_000;

export type LiveState = "connecting" | "live" | "polling" | "offline";

export interface Tells {
  state: (next: LiveState) => void;
  /** What has changed; without topics it may be anything. */
  changed: (topics?: readonly string[]) => void;
  /** The stream has ended, which may be the session's end. */
  trouble: () => void;
}

/** Holds the stream until the returned function is called. check asks whether the session still holds. */
export function openStream(url: string, check: () => Promise<boolean>, { missed: old, ...tell }: Tells & { missed: boolean }): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  let missed = old; // what changed before the first stream was read by the queries

  const poll = (until: number) => {
    if (ended) return;
    timer = setTimeout(() => {
      void check().then((answers) => {
        if (ended) return;
        tell.state(answers ? "polling" : "offline");
        if (answers) tell.changed();
        if (Date.now() >= until) open();
        else poll(until);
      });
    }, pollEvery);
  };

  const open = () => {
    if (ended) return;
    source?.close();
    source = new EventSource(url);
    source.onopen = () => {
      tell.state("live");
      if (missed) tell.changed();
      missed = true;
    };
    source.onmessage = (event: MessageEvent<string>) => tell.changed(topicsOf(event.data));
    source.onerror = () => {
      // Either the browser connects again by itself, or the server said no: both may be the session's end.
      missed = true;
      const closed = source?.readyState === EventSource.CLOSED;
      tell.trouble();
      void check().then((answers) => {
        if (ended || source === undefined) return;
        if (source.readyState === EventSource.OPEN) return;
        tell.state(answers ? "connecting" : "offline");
        if (closed) {
          source.close();
          source = undefined;
          poll(Date.now() + tryAgainAfter);
        }
      });
    };
  };
  open();
  return () => {
    ended = true;
    clearTimeout(timer);
    source?.close();
  };
}

/** The topics of an event; of one that is not understood none, which is taken for all. */
export function topicsOf(data: string): string[] | undefined {
  try {
    const news: unknown = JSON.parse(data);
    if (typeof news === "object" && news !== null && "what" in news && Array.isArray(news.what)) {
      return news.what.filter((w): w is string => typeof w === "string");
    }
  } catch {
    // told below
  }
  return undefined;
}
