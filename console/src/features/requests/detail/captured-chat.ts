import type { CaptureDetail } from "@sluice/contract";
import { messagesOfCall } from "../../playground/chat/imported-chat.ts";
import type { ChatMessage } from "../../playground/chat/read-messages.ts";
import { type AssembledAnswer, answerInBody } from "./assembled-answer.ts";
import { jsonOf, jsonOfStart } from "./json-text.ts";

/** A captured conversation: the messages of the request, and the answer. */
export interface CapturedChat {
  readonly messages: readonly ChatMessage[];
  /** The request body was cut off, so its last messages may be missing. */
  readonly cut: boolean;
  /** null: no answer was captured, or it is no text. */
  readonly answer: AssembledAnswer | null;
}

/** null: not a chat endpoint, or there is no readable request body. */
export function capturedChat(endpoint: string, capture: CaptureDetail): CapturedChat | null {
  const { request_body: sent, response_body: received } = capture;
  if (sent === null) return null;
  const whole = jsonOf(sent);
  const messages = messagesOfCall(endpoint, whole ?? jsonOfStart(sent));
  if (messages === null || messages.length === 0) return null;
  return { messages, cut: whole === undefined, answer: received === null ? null : answerInBody(received) };
}
