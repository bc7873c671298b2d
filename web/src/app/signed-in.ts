// The tabs of a browser share its session: one that signs in tells the others.
const channel = "fairlead.session";

export function tellSignedIn() {
  const tell = new BroadcastChannel(channel);
  tell.postMessage("signed in");
  tell.close();
}

/** Calls f when another tab has signed in, and when this one is looked at again: it may have missed that. */
export function whenSignedIn(f: () => void): () => void {
  const told = new BroadcastChannel(channel);
  told.onmessage = f;
  const seen = () => {
    if (!document.hidden) f();
  };
  document.addEventListener("visibilitychange", seen);
  return () => {
    told.close();
    document.removeEventListener("visibilitychange", seen);
  };
}
