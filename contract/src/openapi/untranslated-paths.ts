import { soundForm } from "../form-fields.ts";
import { requestFields } from "../request-fields.ts";
import { anyObject, call, chunks, events, form, json, text } from "./call-operation.ts";
import { schemaOf } from "./field-schema.ts";
import type { PathItem } from "./types.ts";

/** Model calls that are never translated between dialects. */
export function untranslatedPaths(): Record<string, PathItem> {
  return {
    "/v1/completions": { post: createCompletion },
    "/v1/embeddings": { post: createEmbeddings },
    "/v1/rerank": { post: rerank },
    "/v1/moderations": { post: createModeration },
    "/v1/decisions": { post: createDecisions },
    "/v1beta/decisions": { post: createGeminiDecisions },
    "/v1/audio/transcriptions": { post: createTranscription },
    "/v1/audio/translations": { post: createTranslation },
    "/v1/audio/speech": { post: createSpeech },
  };
}

const createCompletion = call({
  operationId: "createCompletion",
  summary: "Complete a prompt, or fill in the middle",
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
  summary: "Create embeddings",
  request: json(schemaOf(requestFields.embeddings), { model: "demo-embedding", input: "hello" }),
  streams: false,
});

const rerank = call({
  operationId: "rerank",
  summary: "Rerank documents by relevance",
  description: [
    "The request format of Cohere (v2) and Jina. The upstream's response is returned unchanged: `results` with `index` and",
    "`relevance_score`, and the usage in `meta.billed_units` or `usage`.",
  ].join("\n"),
  request: json(schemaOf(requestFields.rerank), {
    model: "demo-rerank",
    query: "Where do ships go?",
    documents: ["A lighthouse", "A harbor"],
    top_n: 1,
  }),
  streams: false,
});

const createModeration = call({
  operationId: "createModeration",
  summary: "Moderate texts and images",
  description: "Default model: `omni-moderation-latest`, as at OpenAI.",
  request: json(schemaOf(requestFields.moderations), { model: "demo-moderation", input: "hello" }),
  streams: false,
});

const createDecisions = call({
  operationId: "createDecisions",
  summary: "Answer questions about an input",
  description: [
    "Returns a probability for each predicate, choice or level, in the order of the questions. Google's clients send the format of",
    "`POST /v1beta/decisions` to this path, too.",
  ].join("\n"),
  request: json(schemaOf(requestFields.decisions), {
    model: "demo-decision",
    input: "My parcel never arrived.",
    questions: [{ type: "predicate", name: "complaint", instructions: "The customer complains." }],
  }),
  streams: false,
});

const createGeminiDecisions = call({
  operationId: "createGeminiDecisions",
  summary: "Answer questions about an input (Gemini)",
  description: "Answers have the ids of their questions. A model's name may begin with `models/`.",
  errors: "interactions",
  request: json(schemaOf(requestFields["gemini-decisions"]), {
    model: "demo-decision",
    input: "My parcel never arrived.",
    questions: { complaint: { type: "noul", instructions: "The customer complains." } },
  }),
  streams: false,
});

const audioDescription =
  "The form is forwarded with only the model name replaced. Plain text and subtitles are returned as `text/plain`.";

const audioAnswers = { "application/json": anyObject, "text/plain": { schema: text }, "text/event-stream": events };

const createTranscription = call({
  operationId: "createTranscription",
  summary: "Transcribe audio",
  description: audioDescription,
  request: form(soundForm),
  answers: audioAnswers,
});

const createTranslation = call({
  operationId: "createTranslation",
  summary: "Translate audio into English",
  description: audioDescription,
  request: form(soundForm),
  answers: audioAnswers,
});

const createSpeech = call({
  operationId: "createSpeech",
  summary: "Generate speech",
  description:
    "Streams the audio, or events with `stream_format: sse`. If the upstream breaks off, the connection is closed.",
  request: json(schemaOf(requestFields.speech), {
    model: "demo-speech",
    input: "A lighthouse at dawn.",
    voice: "alloy",
  }),
  // Bytes have no schema.
  answers: { "audio/*": { schema: {} }, "text/event-stream": events },
});
