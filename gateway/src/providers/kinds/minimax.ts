import { defineKind } from "../define-kind.ts";
import { chat, messagesAt, responses } from "../standard-lanes.ts";
import { minimaxVideo } from "../video/minimax.ts";

/** Messages first: chat completions mix thoughts into the text. */
export const minimax = defineKind({
  id: "minimax",
  title: "MiniMax",
  baseUrl: "https://api.minimax.io/v1",
  variable: "MINIMAX",
  baseUrlHelp: "For an account in China: https://api.minimaxi.com/v1.",
  apiKeyHelp: "Create one at platform.minimax.io (in China: platform.minimaxi.com), under API keys.",
  lanes: [messagesAt(/\/v1$/, "/anthropic/v1"), chat, responses],
  video: minimaxVideo,
});
