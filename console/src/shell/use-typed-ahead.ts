import { useCallback, useEffect, useRef } from "react";

const charsMax = 256;

/**
 * Keeps what is typed while a box is on its way, so that nobody has to wait for it. `open`: it was asked for. The box takes
 * what was kept when it has the focus, and from then on is typed into itself.
 */
export function useTypedAhead(open: boolean): () => string {
  const kept = useRef("");
  const waiting = useRef(false);
  useEffect(() => {
    kept.current = "";
    waiting.current = open;
    if (!open) return;
    const onKey = (event: KeyboardEvent) => {
      if (!waiting.current || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      const next = typedAfter(kept.current, event.key);
      if (next === null) return;
      event.preventDefault();
      event.stopPropagation();
      kept.current = next.slice(0, charsMax);
    };
    document.addEventListener("keydown", onKey, { capture: true });
    return () => document.removeEventListener("keydown", onKey, { capture: true });
  }, [open]);
  return useCallback(() => {
    waiting.current = false;
    const typed = kept.current;
    kept.current = "";
    return typed;
  }, []);
}

/** The text after one more key; null for keys that write nothing. */
export function typedAfter(text: string, key: string): string | null {
  if (key === "Backspace") return text.slice(0, -1);
  return [...key].length === 1 ? text + key : null;
}
