import type { PlaygroundSession } from "@sluice/contract";
import { useEffect } from "react";
import { useCall } from "../../../api/use-call.ts";
import { useUrlChange, useUrlText } from "../../../routes/search.ts";
import { searchOfModels } from "../model-search.ts";
import { useGiveChat } from "./chat-state.ts";
import { type ChatSettings, nothingWritten, plainSettings, type Turn, type Written } from "./conversation.ts";
import type { ImportedChat } from "./imported-chat.ts";

/** The session without answers, pictures and files: the messages so far, and the one that is being written. */
export function sessionOf(
  models: readonly string[],
  settings: ChatSettings,
  turns: readonly Turn[],
  draft: Written,
): PlaygroundSession {
  const { system, temperature, maxTokens, stop, tools, more } = settings;
  const texts = turns.flatMap(({ input }) => (input.kind === "message" ? [input.text] : []));
  const messages = [...texts, draft.text.trim()].filter((text) => text !== "");
  return { models: [...models], messages, system, temperature, max_tokens: maxTokens, stop: [...stop], tools, more };
}

/** A new conversation with the messages as its draft. Nothing is sent. */
function chatOfSession({ messages, max_tokens: maxTokens, ...session }: PlaygroundSession): ImportedChat {
  const { system, temperature, stop, tools, more } = session;
  const settings = { ...plainSettings, system, temperature, maxTokens, stop, tools, more };
  return { turns: [], draft: { ...nothingWritten, text: messages.join("\n\n") }, settings };
}

/** Opens the session of a link (`?share=`), and removes it from the URL, so that it is not opened again. */
export function useSharedChat(workspace: string) {
  const [share] = useUrlText("share");
  const change = useUrlChange();
  const give = useGiveChat(workspace);
  const { data, error } = useCall("playgroundShares.show", { params: { workspace, share }, enabled: share !== "" });
  useEffect(() => {
    if (share === "" || data?.id !== share) return;
    give(chatOfSession(data.session));
    change({ share: "", type: "chat", ...searchOfModels(data.session.models) });
  }, [share, data, give, change]);
  return share === "" ? null : error;
}
