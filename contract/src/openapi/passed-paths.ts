import { soundForm } from "../form-fields.ts";
import { requestFields } from "../request-fields.ts";
import { anyObject, call, chunks, events, form, json, text } from "./call-operation.ts";
import { schemaOf } from "./field-schema.ts";
import type { PathItem } from "./types.ts";

/** Calls of models that are passed as they are, whatever the upstream: nothing is translated. */
export function passedPaths(): Record<string, PathItem> {
  return {
    "/v1/completions": { post: createCompletion },
    "/v1/embeddings": { post: createEmbeddings },
    "/v1/rerank": { post: rerank },
    "/v1/moderations": { post: createModeration },
    "/v1/audio/transcriptions": { post: createTranscription },
    "/v1/audio/translations": { post: createTranslation },
    "/v1/audio/speech": { post: createSpeech },
  };
}

const createCompletion = call({
  operationId: "createCompletion",
  summary: "Go on from a prompt, or fill in between it and a suffix",
  request: json(schemaOf(requestFields.completions), {
    model: "demo-completion",
    prompt: "def fib(n):",
    suffix: "print(fib(8))",
    max_tokens: 64,
  }),
  answers: { "application/json": anyObject, "text/event-stream": chunks },
});

const createEmbeddings = call({
  operationId: "createEmbeddings",
  summary: "Texts as vectors",
  request: json(schemaOf(requestFields.embeddings), { model: "demo-embedding", input: "hello" }),
  streams: false,
});

const rerank = call({
  operationId: "rerank",
  summary: "Documents in the order in which they answer a query",
  description: [
    "Asked as Cohere (v2) and Jina are, and answered as the upstream does: `results` of `index` and `relevance_score`, with what",
    "was used in `meta.billed_units` or in `usage`.",
  ].join("\n"),
  request: json(schemaOf(requestFields.rerank), {
    model: "demo-rerank",
    query: "Where do ships go?",
    documents: ["A lighthouse", "A harbour"],
    top_n: 1,
  }),
  streams: false,
});

const createModeration = call({
  operationId: "createModeration",
  summary: "Judge texts and pictures by their content",
  description: "Without a model `omni-moderation-latest` is meant, as at OpenAI.",
  request: json(schemaOf(requestFields.moderations), { model: "demo-moderation", input: "hello" }),
  streams: false,
});

const soundNote =
  "The form is written to a spool as it arrives and sent from there with only its model replaced. Plain text and subtitles come back as `text/plain`.";

const soundAnswers = { "application/json": anyObject, "text/plain": { schema: text }, "text/event-stream": events };

const createTranscription = call({
  operationId: "createTranscription",
  summary: "A sound as text",
  description: soundNote,
  request: form(soundForm),
  answers: soundAnswers,
});

const createTranslation = call({
  operationId: "createTranslation",
  summary: "A sound as English text",
  description: soundNote,
  request: form(soundForm),
  answers: soundAnswers,
});

const createSpeech = call({
  operationId: "createSpeech",
  summary: "Text as sound",
  description:
    "The sound's bytes as they are made, or events with `stream_format: sse`. A sound that breaks off is a connection that breaks.",
  request: json(schemaOf(requestFields.speech), {
    model: "demo-speech",
    input: "A lighthouse at dawn.",
    voice: "alloy",
  }),
  // Bytes have no schema.
  answers: { "audio/*": { schema: {} }, "text/event-stream": events },
});
