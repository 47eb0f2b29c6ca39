import { editBody, JsonInvalid, readSpan, scanObject } from "#protocols/index.ts";
import type { OutboundDraft } from "./kind.ts";

/** For vendors that refuse or overlook `max_completion_tokens`: the same cap under its older name. */
export function asMaxTokens(draft: OutboundDraft): void {
  if (mentions(draft.body, "max_completion_tokens")) {
    draft.body = editBody(draft.body, { rename: { max_completion_tokens: "max_tokens" } });
  }
}

/** The other way round, for servers of newer models only. */
export function asMaxCompletionTokens(draft: OutboundDraft): void {
  if (mentions(draft.body, "max_tokens")) {
    draft.body = editBody(draft.body, { rename: { max_tokens: "max_completion_tokens" } });
  }
}

/** For vendors that refuse `stream_options`. */
export function withoutStreamOptions(draft: OutboundDraft): void {
  if (mentions(draft.body, "stream_options")) draft.body = editBody(draft.body, { remove: ["stream_options"] });
}

/** A quick look that spares most bodies the scan. */
function mentions(body: Uint8Array | null, name: string): body is Uint8Array {
  return body !== null && Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(`"${name}"`);
}

/**
 * OpenAI's newer picture models refuse `response_format`: they always give their pictures as base64. Clients that go by a
 * model's name (Vercel's AI SDK, Open WebUI) ask others for just that, and know a model of ours by its name here only.
 * Asked for URLs, such a model refuses as it would without us. Source: OpenAI API reference, "Create image".
 */
export function withoutBase64Asked(draft: OutboundDraft): void {
  const { body, upstreamModel } = draft;
  if (body === null || !alwaysBase64.test(upstreamModel)) return;
  if (formatAsked(body) === "b64_json") draft.body = editBody(body, { remove: [formatMember] });
}

const alwaysBase64 = /^(?:chat)?gpt-image/;
const formatMember = "response_format";
const wanted = new Set([formatMember]);

function formatAsked(body: Uint8Array): unknown {
  try {
    const span = scanObject(body, wanted).get(formatMember);
    return span === undefined ? null : readSpan(body, span);
  } catch (thrown) {
    if (thrown instanceof JsonInvalid) return null;
    throw thrown;
  }
}
