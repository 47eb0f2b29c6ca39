import { useCallback } from "react";
import { type Edit, useKept } from "../../media/kept.ts";
import { type Before, beforeOf } from "./before.ts";
import type { Draft } from "./composer.tsx";
import { type ChatSettings, plainSettings, type Turn } from "./conversation.ts";
import type { GivenChat } from "./given-chat.ts";

const noTurns: readonly Turn[] = [];
const noDraft: Draft = { text: "", pictures: [] };

/** The settings, the message that is being written, and the conversation of a workspace, as the playground keeps them. */
export const useChatSettings = () => useKept<ChatSettings>("playground.chat.settings", plainSettings);
export const useChatDraft = (workspace: string) => useKept<Draft>(`playground.chat.draft:${workspace}`, noDraft);
export const useChatTurns = (workspace: string) => useKept<readonly Turn[]>(`playground.chat:${workspace}`, noTurns);

/** What the conversation was before something was taken out of it; null: there is nothing to come back to. */
export function useChatBefore(workspace: string): readonly [Before | null, (edit: Edit<Before | null>) => void] {
  return useKept<Before | null>(`playground.chat.before:${workspace}`, null);
}

/** Remembers the conversation and its draft as they are at this moment. Call it before either is changed. */
export function useRemember(workspace: string): () => void {
  const [, setDraft] = useChatDraft(workspace);
  const [, setTurns] = useChatTurns(workspace);
  const [, setBefore] = useChatBefore(workspace);
  return useCallback(() => {
    // Read from the store, so that subscribers do not render on every key press.
    setTurns((turns) => {
      setDraft((draft) => {
        setBefore(beforeOf(turns, draft));
        return draft;
      });
      return turns;
    });
  }, [setDraft, setTurns, setBefore]);
}

/** Puts a conversation into the playground, in the place of the one that is there. */
export function useGiveChat(workspace: string): (chat: GivenChat) => void {
  const [, setSettings] = useChatSettings();
  const [, setDraft] = useChatDraft(workspace);
  const [, setTurns] = useChatTurns(workspace);
  const remember = useRemember(workspace);
  return useCallback(
    ({ turns, draft, settings }) => {
      remember();
      setSettings(settings);
      setDraft(draft);
      setTurns(turns);
    },
    [setSettings, setDraft, setTurns, remember],
  );
}
