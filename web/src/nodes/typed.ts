// A field whose word stands in the address.
import { useState } from "react";

/** What is typed, and how to send it. What the address comes to say by itself, as by the way back, takes its place. */
export function useTyped(now: string, set: (word: string | undefined) => void): { typed: string; type: (text: string) => void; send: (text: string) => void } {
  const [typed, type] = useState(now);
  const [said, setSaid] = useState(now);
  const [sent, setSent] = useState(now);
  if (now !== said) {
    setSaid(now);
    if (now !== sent) {
      setSent(now);
      type(now);
    }
  }
  return {
    typed,
    type,
    send: (text) => {
      const word = text.trim();
      setSent(word);
      set(word === "" ? undefined : word);
    },
  };
}
