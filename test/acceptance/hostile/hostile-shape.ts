/** A request that an attacker might send. */
export interface HostileShape {
  readonly name: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent with the key that stores bodies. */
  readonly captured?: true;
  /** Sent through the console, on behalf of a key. */
  readonly playground?: true;
  /** Built when the request is sent. */
  readonly body: () => string | Uint8Array;
  /** The acceptable statuses. */
  readonly answers: readonly number[];
}

export const MiB = 1024 * 1024;
export const anthropicVersion = { "anthropic-version": "2023-06-01" };
export const refused = [400, 413];
export const accepted = [200];
export const either = [200, 400, 413, 422];

/** Endpoints, each with a model that serves it natively or translated; `with`: the fields of a minimal call. */
export const chat = "/v1/chat/completions";
const calls = {
  "chat, native": { path: chat, headers: {}, with: '"model":"openai","messages":[{"role":"user","content":"hi"}]' },
  "chat to Messages": { path: chat, headers: {}, with: '"model":"claude","messages":[{"role":"user","content":"hi"}]' },
  "chat with Gemini": { path: chat, headers: {}, with: '"model":"gemini","messages":[{"role":"user","content":"hi"}]' },
  "messages, native": {
    path: "/v1/messages",
    headers: anthropicVersion,
    with: '"model":"claude","max_tokens":5,"messages":[{"role":"user","content":"hi"}]',
  },
  "messages to chat": {
    path: "/v1/messages",
    headers: anthropicVersion,
    with: '"model":"openai","max_tokens":5,"messages":[{"role":"user","content":"hi"}]',
  },
  "responses, native": { path: "/v1/responses", headers: {}, with: '"model":"openai","input":"hi"' },
  "responses to Messages": { path: "/v1/responses", headers: {}, with: '"model":"claude","input":"hi"' },
  "generate to chat": {
    path: "/v1beta/models/openai:generateContent",
    headers: {},
    with: '"contents":[{"role":"user","parts":[{"text":"hi"}]}]',
  },
  "generate, native": {
    path: "/v1beta/models/gemini:generateContent",
    headers: {},
    with: '"contents":[{"role":"user","parts":[{"text":"hi"}]}]',
  },
  "interactions, native": { path: "/v1beta/interactions", headers: {}, with: '"model":"gemini","input":"hi"' },
  "interactions to chat": { path: "/v1beta/interactions", headers: {}, with: '"model":"openai","input":"hi"' },
  embeddings: { path: "/v1/embeddings", headers: {}, with: '"model":"openai","input":"hi"' },
  images: { path: "/v1/images/generations", headers: {}, with: '"model":"painter","prompt":"hi"' },
} as const;
export type CallName = keyof typeof calls;
export const native = [
  "chat, native",
  "messages, native",
  "responses, native",
  "generate, native",
  "interactions, native",
  "embeddings",
  "images",
] as const;
export const translated = [
  "chat to Messages",
  "chat with Gemini",
  "messages to chat",
  "responses to Messages",
  "generate to chat",
  "interactions to chat",
] as const;

export function call(name: CallName, what: string, more: () => string, answers: readonly number[]): HostileShape {
  const { path, headers, with: own } = calls[name];
  return { name: `${name}: ${what}`, path, headers, body: () => `{${own},${more()}}`, answers };
}

export function each(names: readonly CallName[], what: string, more: () => string, answers = either): HostileShape[] {
  return names.map((name) => call(name, what, more, answers));
}

export const many = (count: number, one: string | ((index: number) => string)): string =>
  Array.from({ length: count }, (_, index) => (typeof one === "string" ? one : one(index))).join(",");

export const userMessage = '{"role":"user","content":"a"}';
export const chatOf =
  (model: string, messages: () => string): (() => string) =>
  () =>
    `{"model":"${model}","messages":[${messages()}]}`;
