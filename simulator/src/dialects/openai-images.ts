import { type Answer, type AnswerUsage, defaultImageTokens, silentAnswer, usageFor } from "../answer.ts";
import type { Dialect, Exchange, ReplyHead } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import type { JsonObject } from "../json-body.ts";
import type { Script } from "../script.ts";
import { pngBase64 } from "../tiny-png.ts";
import { type ImagesRequest, imageUrl, inputImageTokens, isImagesPath, readImages } from "./images-request.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";
import { seedreamEvents, seedreamWhole } from "./seedream.ts";

/**
 * Generates or edits images, with any base path. Every image costs the same number of output tokens. A model with `seedream` in
 * its name answers like Ark.
 */
export const openAiImages: Dialect = {
  id: "openai-images",
  matches: ({ method, path }) => method === "POST" && isImagesPath(path),
  read(request) {
    const read = readImages(request);
    return {
      ...(read.seedream ? seedreamExchange(read) : openAiExchange(read)),
      compose: (script) => compose(read, script),
    };
  },
  headers: openAiHeaders,
  error: openAiError,
};

function compose(request: ImagesRequest, script: Script): Answer {
  const failed = request.seedream ? Math.min(script.failed_images ?? 0, request.count) : 0;
  const succeeded = request.count - failed;
  const tokensEach = script.image_tokens ?? defaultImageTokens;
  const prompt = script.prompt_tokens ?? request.parsed.promptTokens;
  const part = { kind: "image" as const, count: 1, piece: () => "", tokens: tokensEach, tool: null };
  return {
    ...silentAnswer(prompt),
    parts: Array.from({ length: succeeded }, () => part),
    contentTokens: succeeded * tokensEach,
    usage: usageFor(script, { prompt, output: succeeded * tokensEach, reasoning: 0 }),
  };
}

function openAiExchange(request: ImagesRequest): Exchange {
  return {
    parsed: request.parsed,
    ping: null,
    whole: (head, answer) => whole(request, head, answer),
    events: (head, answer) => events(request, head, answer),
    errorEvent: (refusal, requestId) => ({
      event: "error",
      data: openAiError(refusal, requestId),
      tokens: 0,
      role: "error",
    }),
  };
}

function seedreamExchange(request: ImagesRequest): Exchange {
  return {
    ...openAiExchange(request),
    whole: (head, answer) => seedreamWhole(request, head, answer),
    events: (head, answer) => seedreamEvents(request, head, answer),
  };
}

function whole(request: ImagesRequest, head: ReplyHead, answer: Answer): string {
  const revised = request.dalle ? { revised_prompt: request.parsed.prompt } : {};
  const b64_json = pngBase64(head.script.giant_event_bytes ?? 0);
  const data = answer.parts.map((_, index) =>
    request.urls ? { ...revised, url: imageUrl(request, head, index) } : { ...revised, b64_json },
  );
  const usage = answer.usage === null || request.dalle ? {} : { usage: usageOf(request, answer.usage) };
  return JSON.stringify({ created: head.created, ...(request.dalle ? {} : imageProperties(request)), data, ...usage });
}

/** The partial images, then the complete image with usage. */
function* events(request: ImagesRequest, head: ReplyHead, answer: Answer): Iterable<DialectEvent> {
  const kind = request.edits ? "image_edit" : "image_generation";
  const b64_json = pngBase64(head.script.giant_event_bytes ?? 0);
  for (let index = 0; index < request.partials; index += 1) {
    const type = `${kind}.partial_image`;
    const event = { type, b64_json, partial_image_index: index, created_at: head.created, ...imageProperties(request) };
    yield { event: type, data: JSON.stringify(event), tokens: 0, role: "content" };
  }
  const type = `${kind}.completed`;
  for (const [index, part] of answer.parts.entries()) {
    const usage = answer.usage === null ? {} : { usage: usageOf(request, answer.usage) };
    const event = { type, b64_json, created_at: head.created, ...imageProperties(request), ...usage };
    const role = index === answer.parts.length - 1 ? "last" : "content";
    yield { event: type, data: JSON.stringify(event), tokens: part.tokens, role };
  }
}

/** The image's properties: as requested, or the vendor's choice. */
function imageProperties({ fields }: ImagesRequest): JsonObject {
  const valueFor = (name: string, fallback: string): string => {
    const requested = fields.get(name);
    return requested === undefined || requested === "auto" ? fallback : requested;
  };
  return {
    background: valueFor("background", "opaque"),
    output_format: valueFor("output_format", "png"),
    quality: valueFor("quality", "medium"),
    size: valueFor("size", "1024x1024"),
  };
}

function usageOf(request: ImagesRequest, usage: AnswerUsage): JsonObject {
  const imageTokens = Math.min(usage.prompt, request.inputImages * inputImageTokens);
  return {
    input_tokens: usage.prompt,
    input_tokens_details: { text_tokens: usage.prompt - imageTokens, image_tokens: imageTokens },
    output_tokens: usage.output,
    output_tokens_details: { text_tokens: 0, image_tokens: usage.output },
    total_tokens: usage.prompt + usage.output,
  };
}
