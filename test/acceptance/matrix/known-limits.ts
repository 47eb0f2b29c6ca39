import { expect } from "bun:test";
import { type Caller, type CallSpec, warningsOf } from "./call-spec.ts";
import { type CaseContext, scripted, wholeAndStreamed } from "./case.ts";
import { expectEstimated, expectSameUsage } from "./cases-text.ts";
import type { Upstream } from "./upstreams.ts";

/** A case that a pair cannot pass, the reason, and how the caller notices. */
export interface KnownLimit {
  readonly case: string;
  readonly caller: (caller: Caller) => boolean;
  readonly upstream: (upstream: Upstream) => boolean;
  readonly reason: string;
  /** Runs instead of the case. Throws if the caller is not informed as expected. */
  readonly run: (context: CaseContext) => Promise<void>;
}

const onNova = { caller: () => true, upstream: ({ name }: Upstream) => name === "bedrock-nova" };
const noThinking = "Amazon's first-generation models do not reason, and Converse has no field to request it.";

const onAiChat = { caller: ({ name }: Caller) => name === "ai openai chat", upstream: () => true };
const readsNoReasoning =
  "Vercel's OpenAI package reads no reasoning from chat completions, because OpenAI does not return it there.";

const knownLimits: readonly KnownLimit[] = [
  { ...onNova, case: "thinking", reason: noThinking, run: expectReasoningWarning },
  { ...onNova, case: "thinking in a tool loop", reason: noThinking, run: expectReasoningWarning },
  { ...onAiChat, case: "thinking", reason: readsNoReasoning, run: expectReasoningCounted },
  { ...onAiChat, case: "thinking in a tool loop", reason: readsNoReasoning, run: expectReasoningCounted },
  {
    case: "no usage reported",
    caller: ({ name }) => name === "ai anthropic",
    upstream: ({ name }) => name === "anthropic",
    reason:
      "Answers in the caller's own dialect are forwarded unchanged, and the SDK cannot read an answer without usage.",
    run: async ({ caller, model }) => {
      const turns = [scripted("a b c", { tokens: 5, no_usage: true })];
      const thrownBy = (call: Promise<unknown>) => call.catch((reason: unknown) => reason);
      expect(await thrownBy(caller.whole({ model, turns }))).toMatchObject({ message: "Invalid JSON response" });
      const streamed = await thrownBy(caller.stream({ model, turns }));
      expect(streamed).toMatchObject({ message: "Expected a normalized Anthropic stream error" });
    },
  },
  {
    case: "no usage reported",
    caller: ({ dialect }) => dialect === "messages",
    upstream: ({ name }) => ["anthropic", "bedrock-claude", "vertex-claude"].includes(name),
    reason:
      "Answers in the caller's own dialect are forwarded unchanged, and the SDK cannot read a stream without usage.",
    run: async (context) => {
      const turns = [scripted("a b c", { tokens: 5, no_usage: true })];
      expectEstimated(context, await context.caller.whole({ model: context.model, turns }));
    },
  },
];

export function limitOf(caller: Caller, upstream: Upstream, name: string): KnownLimit | null {
  return knownLimits.find((limit) => limit.case === name && limit.caller(caller) && limit.upstream(upstream)) ?? null;
}

function expectReasoningCounted(context: CaseContext): Promise<void> {
  const turns = [scripted("why", { tokens: 3, reasoning_field: "reasoning_content" })];
  return wholeAndStreamed(context, { model: context.model, turns, thinks: true }, (result) => {
    expect(result.text).toBe(" the quick brown");
    expect(result.usage()).toMatchObject({ output: 9, reasoning: 6 });
    expectSameUsage(context, result);
  });
}

function expectReasoningWarning(context: CaseContext): Promise<void> {
  const spec: CallSpec = { model: context.model, turns: [scripted("why", { tokens: 3 })], thinks: true };
  return wholeAndStreamed(context, spec, (result) => {
    expect(result.text).toBe(" the quick brown");
    expect(result.thinking).toBe("");
    expect(warningsOf(result.exchange)).toMatch(/reason/);
  });
}

/**
 * A request field that another upstream cannot serve. The request is refused, naming the field, if the answer would be different
 * without it; otherwise there is a warning.
 */
export interface Untranslatable {
  readonly what: string;
  readonly reason: string;
  readonly path: string;
  readonly upstreams: readonly string[];
  readonly body: Readonly<Record<string, unknown>>;
  /** Matches the field's name in an error of OpenAI's format, or the message in one of Anthropic's. */
  readonly expected: { readonly refusedFor: RegExp } | { readonly warnedOf: RegExp };
}

const prompt = 'hi [[sim {"tokens":2}]]';
const chat = { path: "/v1/chat/completions", messages: [{ role: "user", content: prompt }] };
const notChat = ["responses", "anthropic", "bedrock-nova", "gemini"];
const stateless = ["chat", "anthropic", "bedrock-nova", "gemini"];

function chatRow(
  what: string,
  reason: string,
  upstreams: readonly string[],
  more: Readonly<Record<string, unknown>>,
  expected: Untranslatable["expected"],
): Untranslatable {
  return { what, reason, upstreams, path: chat.path, body: { messages: chat.messages, ...more }, expected };
}

function responsesRow(
  what: string,
  reason: string,
  more: Readonly<Record<string, unknown>>,
  expected: Untranslatable["expected"],
): Untranslatable {
  return { what, reason, upstreams: stateless, path: "/v1/responses", body: { input: prompt, ...more }, expected };
}

function messagesRow(
  what: string,
  reason: string,
  upstreams: readonly string[],
  more: Readonly<Record<string, unknown>>,
  expected: Untranslatable["expected"],
): Untranslatable {
  const body = { max_tokens: 99, messages: [{ role: "user", content: prompt }], ...more };
  return { what, reason, upstreams, path: "/v1/messages", body, expected };
}

export const untranslatable: readonly Untranslatable[] = [
  chatRow("several choices", "only one choice can be translated", notChat, { n: 2 }, { refusedFor: /^n$/ }),
  chatRow("a logit bias", "no other dialect has it", notChat, { logit_bias: { "1": 1 } }, { warnedOf: /logit_bias/ }),
  chatRow("a seed", "only Gemini has it too", ["anthropic", "responses"], { seed: 7 }, { warnedOf: /seed/ }),
  chatRow("stop sequences", "Responses has no such field", ["responses"], { stop: ["x"] }, { warnedOf: /stop/ }),
  chatRow("an unknown field", "its meaning is unknown", notChat, { of_next_year: 1 }, { warnedOf: /of_next_year/ }),
  responsesRow(
    "a previous response",
    "only the upstream that made it stores it",
    { previous_response_id: "resp_1" },
    { refusedFor: /^previous_response_id$/ },
  ),
  responsesRow(
    "a background response",
    "no upstream would store it",
    { background: true },
    { refusedFor: /^background$/ },
  ),
  responsesRow(
    "a reference to a stored item",
    "only the upstream that stores it can read it",
    { input: [{ type: "item_reference", id: "msg_1" }] },
    { refusedFor: /^input/ },
  ),
  responsesRow(
    "a compaction by OpenAI",
    "only OpenAI can decrypt it",
    {
      input: [
        { type: "compaction", encrypted_content: "gAAA" },
        { role: "user", content: prompt },
      ],
    },
    { refusedFor: /^input/ },
  ),
  responsesRow(
    "the vendor's code interpreter",
    "it runs at the vendor",
    { tools: [{ type: "code_interpreter", container: { type: "auto" } }] },
    { warnedOf: /code_interpreter/ },
  ),
  messagesRow("top_k", "OpenAI's APIs do not have it", ["chat", "responses"], { top_k: 4 }, { warnedOf: /top_k/ }),
  messagesRow(
    "the vendor's search tool",
    "it runs at the vendor",
    ["chat", "bedrock-nova"],
    { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    { warnedOf: /web_search/ },
  ),
  messagesRow(
    "a document by file id",
    "the vendor stores the file",
    ["chat", "responses", "gemini"],
    {
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: prompt },
            { type: "document", source: { type: "file", file_id: "file_1" } },
          ],
        },
      ],
    },
    { refusedFor: /document|file/ },
  ),
];
