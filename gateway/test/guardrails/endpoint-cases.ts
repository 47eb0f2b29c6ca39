import { openSocket } from "../endpoints/responses-socket/socket-gateway.ts";
import { batchCases } from "./batch-cases.ts";
import { eventStream } from "./echo-upstream.ts";
import {
  chat,
  content,
  type EndpointCase,
  interactionPaths,
  json,
  message,
  ownHeaders,
  post,
  postForm,
  sent,
  sentFrames,
  streamed,
  tokens,
  vectors,
  whole,
} from "./endpoint-case.ts";
import { storedCases } from "./stored-cases.ts";

const throughProvider = (method: string): EndpointCase => ({
  send: (gateway, text) =>
    sent(
      fetch(`${gateway.url}/v1/providers/openai/v1/threads/${encodeURIComponent(`t ${text}`)}`, {
        ...{ method, headers: { ...ownHeaders, "content-type": "application/json" } },
        body: method === "GET" || method === "HEAD" || method === "DELETE" ? null : JSON.stringify({ deep: [text] }),
      }),
    ),
  isUnsent: true,
  answer: method === "HEAD" ? "no body" : json((text) => ({ deep: { text } })),
});

/** Makes an interaction that the vendor stores, then reads it. */
const readInteraction = (path: string, query = ""): EndpointCase["send"] => {
  return async (gateway, text) => {
    const made = await gateway.post(path, { model: "gemini", input: "hello" });
    const { id } = (await made.json()) as { id: string };
    return await sent(gateway.get(`${path}/${id}?note=${encodeURIComponent(text)}${query}`));
  };
};

/** Makes a response that the vendor keeps, then reads it. */
const readStored = (rest: string, query = ""): EndpointCase["send"] => {
  return async (gateway, text) => {
    const made = await gateway.post("/v1/responses", { model: "openai", input: "hello" });
    const { id } = (await made.json()) as { id: string };
    return await sent(gateway.get(`/v1/responses/${id}${rest}?note=${encodeURIComponent(text)}${query}`));
  };
};

/** By route. A route that is called in several ways has several cases. */
export const endpointCases: Readonly<Record<string, EndpointCase>> = {
  ...batchCases,
  ...storedCases,
  "POST /v1/chat/completions": {
    send: post(chat, (text) => ({ model: "openai", ...message(text) })),
    answer: whole(chat),
  },
  "POST /v1/chat/completions, streamed": {
    send: post(chat, (text) => ({ model: "openai", stream: true, ...message(text) })),
    answer: streamed(chat),
  },
  "POST /v1/messages": {
    send: post("/v1/messages", (text) => ({ model: "anthropic", max_tokens: 9, ...message(text) })),
    answer: whole("/messages"),
  },
  "POST /v1/messages, streamed": {
    send: post("/v1/messages", (text) => ({ model: "anthropic", max_tokens: 9, stream: true, ...message(text) })),
    answer: streamed("/messages"),
  },
  "POST /v1/messages/count_tokens": {
    send: post("/v1/messages/count_tokens", (text) => ({ model: "anthropic", ...message(text) })),
    answer: tokens,
  },
  "POST /model/{id}/invoke": {
    send: post("/model/anthropic/invoke", (text) => ({ max_tokens: 9, ...message(text) })),
    answer: whole("/messages"),
  },
  "POST /model/{id}/invoke-with-response-stream": {
    send: (gateway, text) =>
      sentFrames(gateway.post("/model/anthropic/invoke-with-response-stream", { max_tokens: 9, ...message(text) })),
    answer: streamed("/messages"),
  },
  "POST /model/{id}/count-tokens": {
    send: post("/model/anthropic/count-tokens", (text) => ({
      input: {
        invokeModel: { body: Buffer.from(JSON.stringify({ max_tokens: 9, ...message(text) })).toString("base64") },
      },
    })),
    answer: tokens,
  },
  ...Object.fromEntries(
    ["", "/v1"].flatMap((base): [string, EndpointCase][] => {
      const models = "/locations/{location}/publishers/anthropic/models";
      const path = `${base}/projects/p/locations/l/publishers/anthropic/models/anthropic`;
      return [
        [
          `POST ${base}/projects/{project}${models}/{model}:rawPredict`,
          {
            send: post(`${path}:rawPredict`, (text) => ({ max_tokens: 9, ...message(text) })),
            answer: whole("/messages"),
          },
        ],
        [
          `POST ${base}/projects/{project}${models}/{model}:streamRawPredict`,
          {
            send: post(`${path}:streamRawPredict`, (text) => ({ max_tokens: 9, stream: true, ...message(text) })),
            answer: streamed("/messages"),
          },
        ],
      ];
    }),
  ),
  "POST /v1/responses": {
    send: post("/v1/responses", (input) => ({ model: "openai", input })),
    answer: whole("/responses"),
  },
  "POST /v1/responses, streamed": {
    send: post("/v1/responses", (input) => ({ model: "openai", input, stream: true })),
    answer: streamed("/responses"),
  },
  "POST /v1/responses, in the background": {
    send: post("/v1/responses", (input) => ({ model: "openai", input, background: true, store: true })),
    answer: whole("/responses"),
  },
  "SOCKET /v1/responses": {
    async send(gateway, input) {
      const socket = await openSocket(gateway);
      const frames = await socket.ask({ type: "response.create", model: "openai", input });
      socket.close();
      const failed = frames.find(({ type }) => type === "error");
      return { status: (failed?.["status"] as number | undefined) ?? 200, text: JSON.stringify(frames) };
    },
    answer: streamed("/responses"),
  },
  "GET /v1/responses/{id}": { send: readStored(""), isUnsent: true, answer: whole("/responses") },
  "GET /v1/responses/{id}, streamed": {
    ...{ send: readStored("", "&stream=true"), isUnsent: true },
    answer: streamed("/responses"),
  },
  "GET /v1/responses/{id}/input_items": {
    ...{ send: readStored("/input_items"), isUnsent: true },
    answer: json((text) => ({
      object: "list",
      data: [{ type: "message", role: "user", content: [{ type: "input_text", text }] }],
    })),
  },
  "POST /v1/responses/compact": {
    send: post("/v1/responses/compact", (input) => ({ model: "openai", input })),
    answer: whole("/responses"),
  },
  "POST /v1/responses/input_tokens": {
    send: post("/v1/responses/input_tokens", (input) => ({ model: "openai", input })),
    answer: tokens,
  },
  "POST /v1beta/models/{model}:generateContent": {
    send: post("/v1beta/models/gemini:generateContent", (text) => ({ contents: [content(text)] })),
    answer: whole("generateContent"),
  },
  "POST /v1beta/models/{model}:generateContent, streamed": {
    send: post("/v1beta/models/gemini:streamGenerateContent?alt=sse", (text) => ({ contents: [content(text)] })),
    answer: streamed("generateContent"),
  },
  "POST /v1beta/models/{model}:countTokens": {
    send: post("/v1beta/models/gemini:countTokens", (text) => ({ contents: [content(text)] })),
    answer: tokens,
  },
  "POST /v1beta/models/{model}:embedContent": {
    send: post("/v1beta/models/gemini-vectors:embedContent", (text) => ({ content: content(text) })),
    answer: vectors,
  },
  "POST /v1beta/models/{model}:batchEmbedContents": {
    send: post("/v1beta/models/gemini-vectors:batchEmbedContents", (text) => ({
      requests: [{ model: "models/gemini-vectors", content: content(text) }],
    })),
    answer: vectors,
  },
  "POST /v1/completions": {
    send: post("/v1/completions", (prompt) => ({ model: "completion", prompt })),
    answer: json((text) => ({
      id: "c",
      object: "text_completion",
      choices: [{ index: 0, text, finish_reason: "stop" }],
    })),
  },
  "POST /v1/completions, streamed": {
    send: post("/v1/completions", (prompt) => ({ model: "completion", prompt, stream: true })),
    answer: (pieces) =>
      eventStream(
        pieces.map((text) => ({
          id: "c",
          object: "text_completion",
          choices: [{ index: 0, text, finish_reason: null }],
        })),
      ),
  },
  "POST /v1/images/generations": {
    send: post("/v1/images/generations", (prompt) => ({ model: "image", prompt })),
    answer: json((revised_prompt) => ({ created: 1, data: [{ b64_json: "iVBORw0KGgo=", revised_prompt }] })),
  },
  "POST /v1/images/edits": {
    send: post("/v1/images/edits", (prompt) => ({
      ...{ model: "image", prompt },
      images: [{ image_url: "data:image/png;base64,iVBORw0KGgo=" }],
    })),
    answer: json((revised_prompt) => ({ created: 1, data: [{ b64_json: "iVBORw0KGgo=", revised_prompt }] })),
  },
  "POST /v1/images/edits, as a form": {
    send: postForm("/v1/images/edits", (prompt) => ({ model: "image", prompt }), "image"),
    isUnsent: true,
    answer: json((revised_prompt) => ({ created: 1, data: [{ b64_json: "iVBORw0KGgo=", revised_prompt }] })),
  },
  "POST /v1/embeddings": {
    send: post("/v1/embeddings", (text) => ({ model: "vectors", input: ["hello", text] })),
    answer: vectors,
  },
  "POST /v1/rerank": {
    send: post("/v1/rerank", (text) => ({
      model: "rerank",
      query: "q",
      documents: ["a", text],
      return_documents: true,
    })),
    answer: json((text) => ({ results: [{ index: 0, relevance_score: 1, document: { text } }] })),
  },
  "POST /v1/moderations": {
    send: post("/v1/moderations", (input) => ({ model: "moderation", input })),
    answer: "categories and scores",
  },
  "POST /v1/decisions": {
    send: post("/v1/decisions", (instructions) => ({
      model: "decision",
      input: "hello",
      questions: [{ type: "predicate", instructions }],
    })),
    answer: json((choice) => ({ answers: [{ type: "choice", name: null, choice, confidence: 1, probabilities: [] }] })),
  },
  "POST /v1beta/decisions": {
    send: post("/v1beta/decisions", (input) => ({
      model: "gemini-decision",
      input,
      questions: { q: { type: "noul", instructions: "yes" } },
    })),
    answer: json((choice) => ({ answers: { q: { type: "choice", choice, confidence: 1, probabilities: {} } } })),
  },
  "POST /v1/audio/transcriptions": {
    send: postForm("/v1/audio/transcriptions", (prompt) => ({ model: "audio", prompt }), "file"),
    isUnsent: true,
    answer: json((text) => ({ text })),
  },
  "POST /v1/audio/transcriptions, streamed": {
    send: postForm("/v1/audio/transcriptions", (prompt) => ({ model: "audio", prompt, stream: "true" }), "file"),
    isUnsent: true,
    answer: (pieces) =>
      eventStream([
        ...pieces.map((delta) => ({ type: "transcript.text.delta", delta })),
        { type: "transcript.text.done", text: pieces.join("") },
      ]),
  },
  "POST /v1/audio/translations": {
    send: postForm("/v1/audio/translations", (prompt) => ({ model: "audio", prompt }), "file"),
    isUnsent: true,
    answer: json((text) => ({ text })),
  },
  "POST /v1/audio/speech": {
    send: post("/v1/audio/speech", (input) => ({ model: "speech", input, voice: "alloy" })),
    answer: "audio, which is not read",
  },
  ...Object.fromEntries(
    interactionPaths.flatMap((path): [string, EndpointCase][] => [
      [`POST ${path}`, { send: post(path, (input) => ({ model: "gemini", input })), answer: whole("/interactions") }],
      [
        `POST ${path}, streamed`,
        { send: post(path, (input) => ({ model: "gemini", input, stream: true })), answer: streamed("/interactions") },
      ],
      [`GET ${path}/{id}`, { send: readInteraction(path), isUnsent: true, answer: whole("/interactions") }],
      [
        `GET ${path}/{id}, streamed`,
        { send: readInteraction(path, "&stream=true"), isUnsent: true, answer: streamed("/interactions") },
      ],
    ]),
  ),
  ...Object.fromEntries(
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map((method) => [
      `${method} /v1/providers/{provider}/{path}`,
      throughProvider(method),
    ]),
  ),
};
