import { useCallback } from "react";
import { type Edit, useTabState } from "../../media/tab-state.ts";
import { type Before, beforeOf } from "./before.ts";
import type { Draft } from "./composer.tsx";
import { type ChatSettings, plainSettings, type Turn } from "./conversation.ts";
import type { ImportedChat } from "./imported-chat.ts";

const noTurns: readonly Turn[] = [];
const noDraft: Draft = { text: "", pictures: [] };

/** Settings, draft message and conversation of the playground in a workspace. */
export const useChatSettings = () => useTabState<ChatSettings>("playground.chat.settings", plainSettings);
export const useChatDraft = (workspace: string) => useTabState<Draft>(`playground.chat.draft:${workspace}`, noDraft);
export const useChatTurns = (workspace: string) =>
  useTabState<readonly Turn[]>(`playground.chat:${workspace}`, noTurns);

/** The conversation before the last change, for undo. null: none. */
export function useChatBefore(workspace: string): readonly [Before | null, (edit: Edit<Before | null>) => void] {
  return useTabState<Before | null>(`playground.chat.before:${workspace}`, null);
}

/** Stores the current conversation and draft. Call it before you change either. */
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

/** Replaces the conversation in the playground. */
export function useGiveChat(workspace: string): (chat: ImportedChat) => void {
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
