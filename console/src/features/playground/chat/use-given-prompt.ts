import { useEffect } from "react";
import { useUrlChange, useUrlText } from "../../../routes/search.ts";
import type { Draft } from "./composer.tsx";

const lengthMax = 4_000;

/**
 * A question that a link brought along (`?prompt=`): written into an empty message, never sent by itself, and taken out of the
 * address, so that it does not come back.
 */
export function useGivenPrompt(onDraft: (edit: (before: Draft) => Draft) => void): void {
  const [prompt] = useUrlText("prompt");
  const change = useUrlChange();
  useEffect(() => {
    if (prompt === "") return;
    const text = prompt.slice(0, lengthMax);
    onDraft((before) => (before.text === "" && before.pictures.length === 0 ? { ...before, text } : before));
    change({ prompt: "" });
  }, [prompt, onDraft, change]);
}
