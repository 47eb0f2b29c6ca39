import { useCallback, useEffect, useRef } from "react";

const charsMax = 256;

/**
 * Buffers keys that are typed while a dialog with an input is loading. `open`: the dialog was requested. Its input takes the buffered
 * text when it gets the focus; from then on it receives the keys itself.
 */
export function useTypedAhead(open: boolean): () => string {
  const buffer = useRef("");
  const waiting = useRef(false);
  useEffect(() => {
    buffer.current = "";
    waiting.current = open;
    if (!open) return;
    const onKey = (event: KeyboardEvent) => {
      if (!waiting.current || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      const next = typedAfter(buffer.current, event.key);
      if (next === null) return;
      event.preventDefault();
      event.stopPropagation();
      buffer.current = next.slice(0, charsMax);
    };
    document.addEventListener("keydown", onKey, { capture: true });
    return () => document.removeEventListener("keydown", onKey, { capture: true });
  }, [open]);
  return useCallback(() => {
    waiting.current = false;
    const typed = buffer.current;
    buffer.current = "";
    return typed;
  }, []);
}

/** The text after one more key. null: the key does not change the text. */
export function typedAfter(text: string, key: string): string | null {
  if (key === "Backspace") return text.slice(0, -1);
  return [...key].length === 1 ? text + key : null;
}
