import { useCallback } from "react";
import { useKept } from "../../media/kept.ts";
import type { Draft } from "./composer.tsx";
import { type ChatSettings, plainSettings, type Turn } from "./conversation.ts";
import type { GivenChat } from "./given-chat.ts";

const noTurns: readonly Turn[] = [];
const noDraft: Draft = { text: "", pictures: [] };

/** The settings, the message that is being written, and the conversation of a workspace, as the playground keeps them. */
export const useChatSettings = () => useKept<ChatSettings>("playground.chat.settings", plainSettings);
export const useChatDraft = (workspace: string) => useKept<Draft>(`playground.chat.draft:${workspace}`, noDraft);
export const useChatTurns = (workspace: string) => useKept<readonly Turn[]>(`playground.chat:${workspace}`, noTurns);

/** Puts a conversation into the playground, in the place of the one that is there. */
export function useGiveChat(workspace: string): (chat: GivenChat) => void {
  const [, setSettings] = useChatSettings();
  const [, setDraft] = useChatDraft(workspace);
  const [, setTurns] = useChatTurns(workspace);
  return useCallback(
    ({ turns, draft, settings }) => {
      setSettings(settings);
      setDraft(draft);
      setTurns(turns);
    },
    [setSettings, setDraft, setTurns],
  );
}
