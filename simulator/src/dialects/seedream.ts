import type { Answer } from "../answer.ts";
import type { ReplyHead } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import type { JsonObject } from "../json-body.ts";
import { pngBase64 } from "../tiny-png.ts";
import { type ImagesRequest, imageUrl } from "./images-request.ts";

/** Ark's answer: images and errors in one list, and usage that counts images. */
export function seedreamWhole(request: ImagesRequest, head: ReplyHead, answer: Answer): string {
  const data = Array.from({ length: request.count }, (_, index) =>
    succeeds(request, answer, index) ? imageFields(request, head, index) : { error: failure },
  );
  return JSON.stringify({ model: request.parsed.model, created: head.created, data, ...usageField(request, answer) });
}

/** Each event of an image contains the whole image; the last event has usage. */
export function* seedreamEvents(request: ImagesRequest, head: ReplyHead, answer: Answer): Iterable<DialectEvent> {
  const facts = { model: request.parsed.model, created: head.created };
  for (let index = 0; index < request.count; index += 1) {
    if (succeeds(request, answer, index)) {
      const fields = { ...facts, image_index: index, ...imageFields(request, head, index) };
      const tokens = answer.parts[0]?.tokens ?? 0;
      yield { ...eventOf("image_generation.partial_succeeded", fields), tokens, role: "content" };
    } else {
      yield eventOf("image_generation.partial_failed", { ...facts, image_index: index, error: failure });
    }
  }
  yield { ...eventOf("image_generation.completed", { ...facts, ...usageField(request, answer) }), role: "usage" };
  yield { data: "[DONE]", tokens: 0, role: "terminal" };
}

/** If the script sets failures, the first images fail. */
function succeeds(request: ImagesRequest, answer: Answer, index: number): boolean {
  return index >= request.count - answer.parts.length;
}

const failure = {
  code: "OutputImageSensitiveContentDetected",
  message: "The request failed because the output image may contain sensitive information.",
};

function imageFields(request: ImagesRequest, head: ReplyHead, index: number): JsonObject {
  const size = request.fields.get("size") ?? "2048x2048";
  return request.urls
    ? { url: imageUrl(request, head, index), size }
    : { b64_json: pngBase64(head.script.giant_event_bytes ?? 0), size };
}

function usageField(request: ImagesRequest, { usage, parts }: Answer): JsonObject {
  if (usage === null) return {};
  const inputs = request.inputImages === 0 ? {} : { input_images: request.inputImages };
  const counts = { generated_images: parts.length, output_tokens: usage.output, total_tokens: usage.output };
  return { usage: { ...counts, ...inputs } };
}

function eventOf(type: string, fields: JsonObject): DialectEvent {
  return { event: type, data: JSON.stringify({ type, ...fields }), tokens: 0 };
}
