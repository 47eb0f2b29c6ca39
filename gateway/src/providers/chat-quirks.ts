import { asBuffer, editBody, JsonInvalid, readSpan, scanObject } from "#protocols/index.ts";
import type { OutboundDraft } from "./kind.ts";

type Adjust = (draft: OutboundDraft) => void;

/** For vendors that refuse or overlook `max_completion_tokens`: the same cap under its older name. */
export const asMaxTokens: Adjust = renamed("max_completion_tokens", "max_tokens");

/** The other way round, for servers of newer models only. */
export const asMaxCompletionTokens: Adjust = renamed("max_tokens", "max_completion_tokens");

export const withoutStreamOptions: Adjust = (draft) => {
  if (mentions(draft.body, "stream_options")) draft.body = editBody(draft.body, { remove: ["stream_options"] });
};

function renamed(from: string, to: string): Adjust {
  return (draft) => {
    if (mentions(draft.body, from)) draft.body = editBody(draft.body, { rename: { [from]: to } });
  };
}

/** Spares most bodies the scan. */
function mentions(body: Uint8Array | null, name: string): body is Uint8Array {
  return body !== null && asBuffer(body).includes(`"${name}"`);
}

/** A member at the top of a body; undefined where there is none, or the body is no JSON. */
export function memberOf(body: Uint8Array, name: string): unknown {
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
 * OpenAI's newer picture models refuse `response_format`: they always give their pictures as base64. Clients that go by a
 * model's name (Vercel's AI SDK, Open WebUI) ask others for just that, and know a model of ours by its name here only.
 * Asked for URLs, such a model refuses as it would without us. Source: OpenAI API reference, "Create image".
 */
export function withoutBase64Asked(draft: OutboundDraft): void {
  const { body, upstreamModel } = draft;
  if (body === null || !alwaysBase64.test(upstreamModel)) return;
  if (memberOf(body, "response_format") === "b64_json") draft.body = editBody(body, { remove: ["response_format"] });
}

const alwaysBase64 = /^(?:chat)?gpt-image/;
