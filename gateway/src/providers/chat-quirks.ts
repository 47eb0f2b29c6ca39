import { asBuffer, editBody, JsonInvalid, readSpan, scanObject } from "#protocols/index.ts";
import type { OutboundDraft } from "./kind.ts";

type Adjust = (draft: OutboundDraft) => void;

/** For vendors that refuse or ignore `max_completion_tokens`. */
export const renameToMaxTokens: Adjust = rename("max_completion_tokens", "max_tokens");

export const renameToMaxCompletionTokens: Adjust = rename("max_tokens", "max_completion_tokens");

export const dropStreamOptions: Adjust = (draft) => {
  if (mentions(draft.body, "stream_options")) draft.body = editBody(draft.body, { remove: ["stream_options"] });
};

function rename(from: string, to: string): Adjust {
  return (draft) => {
    if (mentions(draft.body, from)) draft.body = editBody(draft.body, { rename: { [from]: to } });
  };
}

/** Avoids a scan of most bodies. */
function mentions(body: Uint8Array | null, name: string): body is Uint8Array {
  return body !== null && asBuffer(body).includes(`"${name}"`);
}

/** undefined: no such field, or the body is not JSON. */
export function topLevelField(body: Uint8Array, name: string): unknown {
  if (!mentions(body, name)) return undefined;
  try {
    const span = scanObject(body, new Set([name])).get(name);
    return span === undefined ? undefined : readSpan(body, span);
  } catch (thrown) {
    if (thrown instanceof JsonInvalid) return undefined;
    throw thrown;
  }
}

/**
 * OpenAI's newer image models always return base64 and refuse `response_format`. Clients that recognize them by name
 * (Vercel's AI SDK, Open WebUI) do not know our model names and send it. Source: OpenAI API reference, "Create image".
 */
export function dropBase64Format(draft: OutboundDraft): void {
  const { body, upstreamModel } = draft;
  if (body === null || !alwaysBase64.test(upstreamModel)) return;
  if (topLevelField(body, "response_format") === "b64_json")
    draft.body = editBody(body, { remove: ["response_format"] });
}

const alwaysBase64 = /^(?:chat)?gpt-image/;
