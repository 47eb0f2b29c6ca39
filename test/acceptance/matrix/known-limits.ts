import { expect } from "bun:test";
import { type Ask, type Caller, warningsOf } from "./ask.ts";
import { bothWays, type Ground, scripted } from "./case.ts";
import { isEstimated, usageAgrees } from "./cases-text.ts";
import type { Upstream } from "./upstreams.ts";

/** A case that a pair cannot pass by nature, why, and how the caller is told. */
export interface KnownLimit {
  readonly case: string;
  readonly caller: (caller: Caller) => boolean;
  readonly upstream: (upstream: Upstream) => boolean;
  readonly reason: string;
  /** Runs in the place of the case. Throws when the caller is not told. */
  readonly run: (ground: Ground) => Promise<void>;
}

const onNova = { caller: () => true, upstream: ({ name }: Upstream) => name === "bedrock-nova" };
const noThinking =
  "Amazon's own models of the first generation do not reason, and Converse has no field to ask for it.";

const onAiChat = { caller: ({ name }: Caller) => name === "ai openai chat", upstream: () => true };
const readsNoThoughts =
  "Vercel's package for OpenAI reads no thoughts from chat completions, because OpenAI shows none there.";

const knownLimits: readonly KnownLimit[] = [
  { ...onNova, case: "thinking", reason: noThinking, run: warnsOfThinking },
  { ...onNova, case: "thinking in a tool loop", reason: noThinking, run: warnsOfThinking },
  { ...onAiChat, case: "thinking", reason: readsNoThoughts, run: countsThoughts },
  { ...onAiChat, case: "thinking in a tool loop", reason: readsNoThoughts, run: countsThoughts },
  {
    case: "no usage told",
    caller: ({ name }) => name === "ai anthropic",
    upstream: ({ name }) => name === "anthropic",
    reason: "Bytes of the caller's own dialect pass unchanged, and the SDK can read no answer without usage.",
    run: async ({ caller, model }) => {
      const turns = [scripted("a b c", { tokens: 5, no_usage: true })];
      const thrownBy = (call: Promise<unknown>) => call.catch((reason: unknown) => reason);
      expect(await thrownBy(caller.whole({ model, turns }))).toMatchObject({ message: "Invalid JSON response" });
      const streamed = await thrownBy(caller.stream({ model, turns }));
      expect(streamed).toMatchObject({ message: "Expected a normalized Anthropic stream error" });
    },
  },
  {
    case: "no usage told",
    caller: ({ dialect }) => dialect === "messages",
    upstream: ({ name }) => ["anthropic", "bedrock-claude", "vertex-claude"].includes(name),
    reason: "Bytes of the caller's own dialect pass unchanged, and the SDK cannot read a stream without usage.",
    run: async (ground) => {
      const turns = [scripted("a b c", { tokens: 5, no_usage: true })];
      isEstimated(ground, await ground.caller.whole({ model: ground.model, turns }));
    },
  },
];

export function limitOf(caller: Caller, upstream: Upstream, name: string): KnownLimit | null {
  return knownLimits.find((one) => one.case === name && one.caller(caller) && one.upstream(upstream)) ?? null;
}

function countsThoughts(ground: Ground): Promise<void> {
  const turns = [scripted("why", { tokens: 3, reasoning_field: "reasoning_content" })];
  return bothWays(ground, { model: ground.model, turns, thinks: true }, (heard) => {
    expect(heard.text).toBe(" the quick brown");
    expect(heard.usage()).toMatchObject({ output: 9, reasoning: 6 });
    usageAgrees(ground, heard);
  });
}

function warnsOfThinking(ground: Ground): Promise<void> {
  const ask: Ask = { model: ground.model, turns: [scripted("why", { tokens: 3 })], thinks: true };
  return bothWays(ground, ask, (heard) => {
    expect(heard.text).toBe(" the quick brown");
    expect(heard.thinking).toBe("");
    expect(warningsOf(heard.exchange)).toMatch(/reason/);
  });
}

/**
 * What one dialect can ask for and another upstream cannot give. It is refused with the field's name where the answer
 * would be another one without it, and warned of where it would not.
 */
export interface Untranslatable {
  readonly what: string;
  readonly reason: string;
  readonly path: string;
  readonly upstreams: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  /** The field's name in an error of OpenAI's shape, words of the message in one of Anthropic's. */
  readonly told: { readonly refusedFor: RegExp } | { readonly warnedOf: RegExp };
}

const said = 'hi [[sim {"tokens":2}]]';
const chat = { path: "/v1/chat/completions", messages: [{ role: "user", content: said }] };
const notChat = ["responses", "anthropic", "bedrock-nova", "gemini"];
const stateless = ["chat", "anthropic", "bedrock-nova", "gemini"];

function chatRow(
  what: string,
  reason: string,
  upstreams: readonly string[],
  more: Readonly<Record<string, unknown>>,
  told: Untranslatable["told"],
): Untranslatable {
  return { what, reason, upstreams, path: chat.path, body: { messages: chat.messages, ...more }, told };
}

function responsesRow(
  what: string,
  reason: string,
  more: Readonly<Record<string, unknown>>,
  told: Untranslatable["told"],
): Untranslatable {
  return { what, reason, upstreams: stateless, path: "/v1/responses", body: { input: said, ...more }, told };
}

function messagesRow(
  what: string,
  reason: string,
  upstreams: readonly string[],
  more: Readonly<Record<string, unknown>>,
  told: Untranslatable["told"],
): Untranslatable {
  const body = { max_tokens: 99, messages: [{ role: "user", content: said }], ...more };
  return { what, reason, upstreams, path: "/v1/messages", body, told };
}

export const untranslatable: readonly Untranslatable[] = [
  chatRow("several answers at once", "only one answer can be translated", notChat, { n: 2 }, { refusedFor: /^n$/ }),
  chatRow("a logit bias", "no other dialect has it", notChat, { logit_bias: { "1": 1 } }, { warnedOf: /logit_bias/ }),
  chatRow("a seed", "only Gemini has one too", ["anthropic", "responses"], { seed: 7 }, { warnedOf: /seed/ }),
  chatRow("stop sequences", "Responses has none", ["responses"], { stop: ["x"] }, { warnedOf: /stop/ }),
  chatRow(
    "a member that nobody knows",
    "what it means is not known",
    notChat,
    { of_next_year: 1 },
    { warnedOf: /of_next_year/ },
  ),
  responsesRow(
    "a response to go on from",
    "only the upstream that made it has it",
    { previous_response_id: "resp_1" },
    { refusedFor: /^previous_response_id$/ },
  ),
  responsesRow(
    "an answer in the background",
    "nobody would keep it",
    { background: true },
    { refusedFor: /^background$/ },
  ),
  responsesRow(
    "a reference to a kept item",
    "only the upstream that keeps it can read it",
    { input: [{ type: "item_reference", id: "msg_1" }] },
    { refusedFor: /^input/ },
  ),
  responsesRow(
    "a compaction of OpenAI's own",
    "its maker alone can read it again",
    {
      input: [
        { type: "compaction", encrypted_content: "gAAA" },
        { role: "user", content: said },
      ],
    },
    { refusedFor: /^input/ },
  ),
  responsesRow(
    "the vendor's own interpreter",
    "it runs at the vendor",
    { tools: [{ type: "code_interpreter", container: { type: "auto" } }] },
    { warnedOf: /code_interpreter/ },
  ),
  messagesRow("top_k", "OpenAI's dialects have none", ["chat", "responses"], { top_k: 4 }, { warnedOf: /top_k/ }),
  messagesRow(
    "a search tool of the vendor",
    "it runs at the vendor",
    ["chat", "bedrock-nova"],
    { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    { warnedOf: /web_search/ },
  ),
  messagesRow(
    "a document by its file id",
    "the file lies at the vendor",
    ["chat", "responses", "gemini"],
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: said },
            { type: "document", source: { type: "file", file_id: "file_1" } },
          ],
        },
      ],
    },
    { refusedFor: /document|file/ },
  ),
];
