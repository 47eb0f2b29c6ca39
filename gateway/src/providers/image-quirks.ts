import { editBody, JsonInvalid, readSpan, scanObject } from "#protocols/index.ts";
import type { OutboundDraft } from "./kind.ts";

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
