import { useEffect } from "react";
import { useUrlChange, useUrlText } from "../../../routes/search.ts";
import { isWritten, type Written } from "./conversation.ts";

const lengthMax = 4_000;

/**
 * A prompt from a link (`?prompt=`). It is written into an empty message, never sent automatically, and removed from the URL, so that
 * it is not inserted again.
 */
export function useLinkPrompt(onDraft: (edit: (before: Written) => Written) => void): void {
  const [prompt] = useUrlText("prompt");
  const change = useUrlChange();
  useEffect(() => {
    if (prompt === "") return;
    const text = prompt.slice(0, lengthMax);
    onDraft((before) => (isWritten(before) ? before : { ...before, text }));
    change({ prompt: "" });
  }, [prompt, onDraft, change]);
}
