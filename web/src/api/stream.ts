// One event stream. Where it cannot be had its tab asks every few seconds instead, and tries the stream again. A stream
// says something every few seconds: one that is silent is dead, though its connection may stay open for ever.
const pollEvery = 5000;
const tryAgainAfter = 20_000;
/** Twice what the server leaves between two heartbeats, and something for the way. */
export const patience = 12_000;

export type LiveState = "connecting" | "live" | "polling" | "offline";

export interface Tells {
  state: (next: LiveState) => void;
  /** The server has been heard: until now nothing was missed, or it was told. */
  heard: () => void;
  /** What has changed; without topics it may be anything. */
  changed: (topics?: readonly string[]) => void;
  /** The stream has ended, which may be the session's end. */
  trouble: () => void;
}

/** Holds the stream until the returned function is called. check asks whether the session still holds. */
export function openStream(url: string, check: () => Promise<boolean>, { missed: old, ...tell }: Tells & { missed: boolean }): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let watchdog: ReturnType<typeof setTimeout> | undefined;
  let ended = false;
  let missed = old; // what changed before the first stream was read by the queries

  const poll = (until: number) => {
    if (ended) return;
    timer = setTimeout(() => ask(until), pollEvery);
  };

  const ask = (until: number) => {
    void check().then((answers) => {
      if (ended) return;
      tell.state(answers ? "polling" : "offline");
      if (answers) {
        tell.heard();
        tell.changed();
      }
      if (answers && Date.now() >= until) open();
      else poll(until);
    });
  };

  const close = () => {
    clearTimeout(watchdog);
    source?.close();
    source = undefined;
  };

  /** Takes a stream for dead that is silent for too long. Of one that has never told anything its way may be why: it is tried again later. */
  const expect = (proven: () => boolean) => {
    clearTimeout(watchdog);
    watchdog = setTimeout(() => {
      close();
      missed = true;
      if (proven()) tell.state("offline");
      ask(proven() ? 0 : Date.now() + tryAgainAfter);
    }, patience);
  };

  const open = () => {
    if (ended) return;
    close();
    const opened = new EventSource(url);
    let proven = false; // events come through: that it is open says little where something on the way gathers answers
    source = opened;
    expect(() => proven);
    const heard = () => {
      if (source !== opened) return false;
      expect(() => proven);
      tell.heard();
      if (proven) return true;
      proven = true;
      tell.state("live");
      if (missed) tell.changed();
      missed = true;
      return true;
    };
    opened.addEventListener("heartbeat", heard);
    opened.onmessage = (event: MessageEvent<string>) => {
      if (heard()) tell.changed(topicsOf(event.data));
    };
    opened.onerror = () => {
      if (source !== opened) return;
      // Either the browser connects again by itself, or the server said no: both may be the session's end.
      missed = true;
      proven = false;
      const closed = opened.readyState === EventSource.CLOSED;
      tell.trouble();
      void check().then((answers) => {
        if (ended || source !== opened || proven) return;
        tell.state(answers ? "connecting" : "offline");
        if (closed) {
          close();
          poll(Date.now() + tryAgainAfter);
        }
      });
    };
  };
  open();
  return () => {
    ended = true;
    clearTimeout(timer);
    close();
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
