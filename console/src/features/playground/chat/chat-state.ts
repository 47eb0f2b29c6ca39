import { useCallback } from "react";
import { type Edit, useTabState } from "../../media/tab-state.ts";
import { type Before, beforeOf, type Chats } from "./before.ts";
import { type ChatSettings, nothingWritten, plainSettings, type Written } from "./conversation.ts";
import type { ImportedChat } from "./imported-chat.ts";

export const noChats: Chats = new Map();

/** Settings, draft message and conversations of the playground in a workspace. */
export const useChatSettings = () => useTabState<ChatSettings>("playground.chat.settings", plainSettings);
export const useChatDraft = (workspace: string) =>
  useTabState<Written>(`playground.chat.draft:${workspace}`, nothingWritten);
export const useChats = (workspace: string) => useTabState<Chats>(`playground.chat:${workspace}`, noChats);

/** The conversations before the last change, for undo. null: none. */
export function useChatBefore(workspace: string): readonly [Before | null, (edit: Edit<Before | null>) => void] {
  return useTabState<Before | null>(`playground.chat.before:${workspace}`, null);
}

/** Stores the current conversations and draft. Call it before you change either. */
export function useRemember(workspace: string): () => void {
  const [, setDraft] = useChatDraft(workspace);
  const [, setChats] = useChats(workspace);
  const [, setBefore] = useChatBefore(workspace);
  return useCallback(() => {
    // Read from the store, so that subscribers do not render on every key press.
    setChats((chats) => {
      setDraft((draft) => {
        setBefore(beforeOf(chats, draft));
        return draft;
      });
      return chats;
    });
  }, [setDraft, setChats, setBefore]);
}

/** Replaces the conversations in the playground. */
export function useGiveChat(workspace: string): (chat: ImportedChat) => void {
  const [, setSettings] = useChatSettings();
  const [, setDraft] = useChatDraft(workspace);
  const [, setChats] = useChats(workspace);
  const remember = useRemember(workspace);
  return useCallback(
    ({ turns, draft, settings }) => {
      remember();
      setSettings(settings);
      setDraft(draft);
      setChats(new Map([["", turns]]));
    },
    [setSettings, setDraft, setChats, remember],
  );
}
