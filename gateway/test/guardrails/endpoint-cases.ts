import { until } from "../../../test/until.ts";
import { objectEndpoints } from "../../src/relay/index.ts";
import { png, uploadForm } from "../endpoints/assets/upload-form.ts";
import { openSocket } from "../endpoints/responses-socket/socket-gateway.ts";
import { aliceKey, type StartedGateway } from "../started-gateway.ts";
import { eventStream, shapeOf } from "./echo-upstream.ts";

interface SentRequest {
  readonly status: number;
  readonly text: string;
}

/** How an endpoint carries texts. */
interface EndpointCase {
  /** Sends a request with this text in it. */
  readonly send: (gateway: StartedGateway, text: string) => Promise<SentRequest>;
  /** With something to mask, it reaches no vendor: it cannot be changed, or the test's vendor does not offer it. */
  readonly isUnsent?: true;
  /** A vendor's answer with these pieces of a text; or why no answer contains a text of a model. */
  readonly answer: ((pieces: readonly string[]) => Response) | string;
}

/** Why an endpoint needs no case. */
type Exemption = string;

async function sent(response: Promise<Response>): Promise<SentRequest> {
  const { status, text } = await response.then(async (made) => ({ status: made.status, text: await made.text() }));
  return { status, text };
}

/** The text of a stream in Amazon's frames, with its events decoded from base64. */
async function sentFrames(response: Promise<Response>): Promise<SentRequest> {
  const { status, text } = await sent(response);
  const events = [...text.matchAll(/"bytes":"([^"]*)"/g)].map(([, bytes = ""]) => Buffer.from(bytes, "base64"));
  return { status, text: `${text}\n${events.join("\n")}` };
}

const version = { headers: { "anthropic-version": "2023-06-01" } };
const ownHeaders = { authorization: `Bearer ${aliceKey}` };

const post = (path: string, body: (text: string) => object): EndpointCase["send"] => {
  return (gateway, text) => sent(gateway.post(path, body(text), version));
};

const postForm = (
  path: string,
  fields: (text: string) => Record<string, string>,
  file: string,
): EndpointCase["send"] => {
  return (gateway, text) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields(text))) form.append(name, value);
    const bytes = file === "image" ? png(2, 2) : new Uint8Array(64);
    form.append(file, new Blob([bytes], { type: file === "image" ? "image/png" : "audio/wav" }), `a.${file}`);
    return sent(fetch(`${gateway.url}${path}`, { method: "POST", headers: ownHeaders, body: form }));
  };
};

const json = (body: (text: string) => object) => (pieces: readonly string[]) => Response.json(body(pieces.join("")));
const whole = (path: string) => (pieces: readonly string[]) => Response.json(shapeOf(path)(pieces).whole);
const streamed = (path: string) => (pieces: readonly string[]) => eventStream(shapeOf(path)(pieces).events);

const message = (text: string) => ({ messages: [{ role: "user", content: text }] });
const content = (text: string) => ({ parts: [{ text }] });
const vectors = "vectors";
const tokens = "a number of tokens";
const ownState = "state of the gateway itself";

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

/** Uploads a file with one row, and runs it. */
async function runFileBatch(gateway: StartedGateway, body: object): Promise<SentRequest> {
  const form = new FormData();
  form.append("purpose", "batch");
  form.append("file", new Blob([JSON.stringify({ custom_id: "row", method: "POST", url: chat, body })]), "a.jsonl");
  const upload = await sent(fetch(`${gateway.url}/v1/files`, { method: "POST", headers: ownHeaders, body: form }));
  if (upload.status !== 200) return upload;
  const { id: input_file_id } = JSON.parse(upload.text) as { id: string };
  const made = await gateway.post("/v1/batches", { input_file_id, endpoint: chat, completion_window: "24h" });
  const { id } = (await made.json()) as { id: string };
  const ended = await until(async () => {
    const batch = (await (await gateway.get(`/v1/batches/${id}`)).json()) as Record<string, string | null>;
    return batch["status"] === "completed" ? batch : null;
  });
  const file = ended["output_file_id"] ?? ended["error_file_id"];
  return await sent(gateway.get(`/v1/files/${file}/content`));
}

/** Runs a batch with one request in Gemini's format. */
async function runGeminiBatch(gateway: StartedGateway, path: string, request: object): Promise<SentRequest> {
  const body = { batch: { inputConfig: { requests: { requests: [{ request }] } } } };
  const made = await gateway.post(`/v1beta/models/${path}`, body);
  const { name } = (await made.json()) as { name: string };
  const text = await until(async () => {
    const job = await (await gateway.get(`/v1beta/${name}`)).text();
    return job.includes('"done":true') ? job : null;
  });
  return { status: text.includes('"error"') ? 400 : 200, text };
}

/** Runs a batch with one row. Returns the status of the row. */
async function runMessageBatch(gateway: StartedGateway, params: object): Promise<SentRequest> {
  const { headers } = version;
  const made = await gateway.post("/v1/messages/batches", { requests: [{ custom_id: "row", params }] }, { headers });
  const { id } = (await made.json()) as { id: string };
  const text = await until(async () => {
    const results = await gateway.get(`/v1/messages/batches/${id}/results`);
    return results.status === 200 ? await results.text() : null;
  });
  return { status: text.includes('"type":"succeeded"') ? 200 : 400, text };
}

const interactionPaths = ["/v1beta/interactions", "/v1/interactions"] as const;

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

/** Uploads a file as Google's clients do. */
async function sendPieces(gateway: StartedGateway, path: string, text: string): Promise<SentRequest> {
  const command = (name: string) => ({ ...ownHeaders, "x-goog-upload-command": name, "x-goog-upload-offset": "0" });
  const headers = { ...command("start"), "x-goog-upload-protocol": "resumable" };
  const started = await gateway.post(path, {}, { headers });
  const url = started.headers.get("x-goog-upload-url") ?? "";
  return await sent(fetch(url, { method: "POST", headers: command("upload, finalize"), body: text }));
}

/** Creates an object that a vendor stores, then sends a call about it. */
const onObject = (method: string, path: string, body?: (text: string) => object | FormData): EndpointCase["send"] => {
  return async (gateway, text) => {
    const made = await gateway.post(path.split("/").slice(0, 3).join("/"), { name: "object", input: "hello" });
    const { id } = (await made.json()) as { id: string };
    const url = `${gateway.url}${path.replace("{id}", id).replaceAll(/\{\w+\}/g, "part_1")}`;
    if (body === undefined)
      return await sent(gateway.get(`${url.slice(gateway.url.length)}?note=${encodeURIComponent(text)}`));
    const content = body(text);
    const isForm = content instanceof FormData;
    const headers = { ...ownHeaders, ...(isForm ? {} : { "content-type": "application/json" }) };
    return await sent(fetch(url, { method, headers, body: isForm ? content : JSON.stringify(content) }));
  };
};

const fileOf = (field: string) => (text: string) => {
  const form = new FormData();
  form.append(field, new Blob([text], { type: "text/plain" }), "a.txt");
  return form;
};

const objectAnswer = json((text) => ({ id: "object_1", text }));
const inJson = (text: string) => ({ metadata: { text } });

/** By path, the calls that create an object or are about one. */
const objectCases: Readonly<Record<string, EndpointCase>> = Object.fromEntries(
  objectEndpoints.flatMap(({ path, methods }) =>
    methods.flatMap((method): readonly (readonly [string, EndpointCase])[] => {
      const route = `${method} ${path}`;
      if (method === "DELETE") return [];
      if (method === "GET") return [[route, { send: onObject(method, path), isUnsent: true, answer: objectAnswer }]];
      const upload = {
        "/v1/skills": "files[]",
        "/v1/skills/{id}/versions": "files[]",
        "/v1/containers/{id}/files": "file",
      }[path];
      if (upload === undefined) return [[route, { send: onObject(method, path, inJson), answer: objectAnswer }]];
      return [[route, { send: onObject(method, path, fileOf(upload)), isUnsent: true, answer: objectAnswer }]];
    }),
  ),
);

const chat = "/v1/chat/completions";
const ids = "ids, which must be among the objects that the gateway knows";
const filters = "filters of state of the gateway itself";
const signIn = "sign-in, which reaches no vendor";
const agents = "an agent's telemetry and settings, which reach no vendor";

/** The routes that have no case because they carry no text to or from a vendor. */
const exempt: Readonly<Record<string, Exemption>> = {
  "DELETE /v1/responses/{id}": ids,
  "POST /v1/responses/{id}/cancel": ids,
  "GET /v1/batches": filters,
  "GET /v1/batches/{id}": ids,
  "POST /v1/batches/{id}/cancel": ids,
  "POST /v1/batches/{id}": ids,
  "DELETE /v1/batches/{id}": ids,
  "GET /v1beta/batches": filters,
  "GET /v1beta/batches/{id}": ids,
  "POST /v1beta/batches/{id}": ids,
  "DELETE /v1beta/batches/{id}": ids,
  "GET /v1/messages/batches": filters,
  "GET /v1/messages/batches/{id}": ids,
  "DELETE /v1/messages/batches/{id}": ids,
  "POST /v1/messages/batches/{id}/cancel": ids,
  "GET /v1/messages/batches/{id}/results": ids,
  ...Object.fromEntries(
    interactionPaths.flatMap((path) => [
      [`DELETE ${path}/{id}`, ids],
      [`POST ${path}/{id}/cancel`, ids],
    ]),
  ),
  "GET /v1/video/tasks": filters,
  "GET /v1/video/tasks/{id}": ids,
  "DELETE /v1/video/tasks/{id}": ids,
  "GET /v1/video/tasks/{id}/content": ids,
  "HEAD /v1/video/tasks/{id}/content": ids,
  "POST /v1/video/callbacks/{id}/{token}": "a vendor's notice, which only triggers a poll",
  "GET /v1/videos": filters,
  "POST /v1/videos/edits": "not offered",
  "POST /v1/videos/extensions": "not offered",
  "POST /v1/videos/characters": "not offered",
  "GET /v1/videos/characters/{id}": "not offered",
  "GET /v1/videos/{id}": ids,
  "DELETE /v1/videos/{id}": ids,
  "GET /v1/videos/{id}/content": ids,
  "HEAD /v1/videos/{id}/content": ids,
  "GET /v1/asset-groups": filters,
  "GET /v1/asset-groups/{id}": ids,
  "DELETE /v1/asset-groups/{id}": ids,
  "GET /v1/assets": filters,
  "GET /v1/assets/{id}": ids,
  "DELETE /v1/assets/{id}": ids,
  "GET /v1/blobs/{id}": ids,
  "HEAD /v1/blobs/{id}": ids,
  "GET /v1/files": filters,
  "GET /v1/files/{id}": ids,
  "DELETE /v1/files/{id}": ids,
  "GET /v1/files/{id}/content": ids,
  "POST /v1/uploads/{id}/parts": "a part, which is checked when the upload is completed",
  "POST /v1/uploads/{id}/cancel": ids,
  "GET /v1beta/files": filters,
  "GET /v1beta/files/{id}": ids,
  "DELETE /v1beta/files/{id}": ids,
  ...Object.fromEntries(
    objectEndpoints.filter(({ methods }) => methods.includes("DELETE")).map(({ path }) => [`DELETE ${path}`, ids]),
  ),
  "GET /v1/models": filters,
  "GET /v1/models/{model}": ids,
  "GET /v1beta/models": filters,
  "GET /v1beta/models/{model}": ids,
  "GET /v1/usage": filters,
  "GET /.well-known/oauth-authorization-server": signIn,
  "POST /oauth/device_authorization": signIn,
  "POST /oauth/token": signIn,
  "POST /oauth/revoke": signIn,
  "GET /managed/settings": agents,
  "GET /user/bootstrap": agents,
  "GET /api/oauth/usage": agents,
  "GET /protocol": agents,
  "HEAD /api/hello": agents,
  "POST /v1/metrics": agents,
  "POST /v1/logs": agents,
  "POST /v1/traces": agents,
  "GET /healthz": "health",
  "HEAD /healthz": "health",
  "GET /readyz": "health",
  "HEAD /readyz": "health",
  "GET /metrics": "health",
  "HEAD /": "health",
  "SOCKET /v1/providers/{provider}/{path}": "refused: no frames pass through",
};

/** By route. A route that is called in several ways has several cases. */
const cases: Readonly<Record<string, EndpointCase>> = {
  ...objectCases,
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
  // The upload of its file is checked, too, and refuses what it cannot change.
  "POST /v1/batches": {
    send: (gateway, text) => runFileBatch(gateway, { model: "openai", ...message(text) }),
    isUnsent: true,
    answer: whole(chat),
  },
  "POST /v1beta/models/{model}:batchGenerateContent": {
    send: (gateway, text) => runGeminiBatch(gateway, "gemini:batchGenerateContent", { contents: [content(text)] }),
    answer: whole("generateContent"),
  },
  "POST /v1beta/models/{model}:asyncBatchEmbedContent": {
    send: (gateway, text) =>
      runGeminiBatch(gateway, "gemini-vectors:asyncBatchEmbedContent", { content: content(text) }),
    answer: vectors,
  },
  "POST /v1/messages/batches": {
    send: (gateway, text) => runMessageBatch(gateway, { model: "anthropic", max_tokens: 9, ...message(text) }),
    answer: whole("/messages"),
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
  "POST /v1/video/tasks": { send: post("/v1/video/tasks", (prompt) => ({ model: "video", prompt })), answer: ownState },
  "POST /v1/videos": { send: post("/v1/videos", (prompt) => ({ model: "video", prompt })), answer: ownState },
  "POST /v1/videos/{id}/remix": {
    async send(gateway, prompt) {
      const made = await gateway.post("/v1/videos", { model: "video", prompt: "a harbor" });
      const { id } = (await made.json()) as { id: string };
      return await sent(gateway.post(`/v1/videos/${id}/remix`, { prompt }));
    },
    isUnsent: true,
    answer: ownState,
  },
  "POST /v1/asset-groups": {
    send: post("/v1/asset-groups", (name) => ({ platform: "local", name })),
    isUnsent: true,
    answer: ownState,
  },
  "POST /v1/assets": {
    send: post("/v1/assets", (name) => ({
      platform: "local",
      group_id: "ag_1",
      url: "https://example.com/a.png",
      name,
    })),
    isUnsent: true,
    answer: ownState,
  },
  "POST /v1/assets, as a form": {
    async send(gateway, text) {
      const form = uploadForm({ group_id: "ag_1", platform: "local" }, png(2, 2), `${text}.png`);
      return await sent(fetch(`${gateway.url}/v1/assets`, { method: "POST", headers: ownHeaders, body: form }));
    },
    isUnsent: true,
    answer: ownState,
  },
  "POST /v1/uploads": {
    send: post("/v1/uploads", (filename) => ({
      ...{ purpose: "user_data", filename, mime_type: "text/plain", bytes: 9 },
    })),
    isUnsent: true,
    answer: ownState,
  },
  "POST /v1/uploads/{id}/complete": {
    async send(gateway, text) {
      const facts = { purpose: "user_data", filename: "a.txt", mime_type: "text/plain", bytes: text.length };
      const { id } = (await (await gateway.post("/v1/uploads", facts)).json()) as { id: string };
      const path = `/v1/uploads/${id}`;
      const body = new FormData();
      body.append("data", new Blob([text]), "a");
      const part = await fetch(`${gateway.url}${path}/parts`, { method: "POST", headers: ownHeaders, body });
      const partId = ((await part.json()) as { id: string }).id;
      return await sent(gateway.post(`${path}/complete`, { part_ids: [partId] }));
    },
    isUnsent: true,
    answer: ownState,
  },
  ...Object.fromEntries(
    ["v1", "v1beta"].map((api): [string, EndpointCase] => [
      `POST /upload/${api}/files`,
      { send: (gateway, text) => sendPieces(gateway, `/upload/${api}/files`, text), isUnsent: true, answer: ownState },
    ]),
  ),
  "POST /v1/files": {
    async send(gateway, text) {
      const form = new FormData();
      form.append("purpose", "user_data");
      form.append("file", new Blob([text]), "a.txt");
      return await sent(fetch(`${gateway.url}/v1/files`, { method: "POST", headers: ownHeaders, body: form }));
    },
    isUnsent: true,
    answer: ownState,
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

export { cases as endpointCases, exempt as exemptRoutes };
