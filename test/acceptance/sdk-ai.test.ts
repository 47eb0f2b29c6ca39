import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateText, type ModelMessage } from "ai";
import type { Caller } from "./matrix/call-spec.ts";
import { type AiPackage, aiCaller } from "./matrix/caller-ai.ts";
import { failingPurposes, failureCases } from "./matrix/cases-failure.ts";
import { textCases } from "./matrix/cases-text.ts";
import { toolCases } from "./matrix/cases-tools.ts";
import { movedConversations } from "./matrix/moved-conversations.ts";
import { matrixTable } from "./matrix/print-matrix.ts";
import { failingName, type PairResult, runMatrix } from "./matrix/run-matrix.ts";
import { matrixConfig, matrixUpstreams, type Upstream } from "./matrix/upstreams.ts";
import { openSetup, type TestSetup } from "./open-setup.ts";
import { keys } from "./test-config.ts";

/** Vercel's AI SDK: each of its packages with an upstream of the same dialect and with one of another. */
const pairs: Readonly<Record<AiPackage, readonly [string, string]>> = {
  openai: ["responses", "anthropic"],
  "openai chat": ["chat", "gemini"],
  "openai-compatible": ["chat", "anthropic"],
  anthropic: ["anthropic", "responses"],
  google: ["gemini", "chat"],
};
const packages = Object.keys(pairs) as readonly AiPackage[];
const cases = [...textCases, ...toolCases, ...failureCases];

function callersAt(url: string): readonly Caller[] {
  return packages.map((name) => aiCaller({ url, key: keys.main }, name));
}

let setup: TestSetup;
let results: readonly PairResult[] = [];

beforeAll(async () => {
  const purposes = callersAt("").flatMap((caller) => failingPurposes.map((purpose) => failingName(caller, purpose)));
  setup = await openSetup((simulatorUrl) => matrixConfig(simulatorUrl, purposes));
  const upstreamsOf = ({ name }: Caller): readonly Upstream[] =>
    matrixUpstreams.filter((upstream) => pairs[name.slice("ai ".length) as AiPackage].includes(upstream.name));
  results = await runMatrix(setup, callersAt(setup.gateway.url), cases, upstreamsOf);
  console.log(`\n${matrixTable(results)}\n`);
});
afterAll(() => setup?.close());

describe.each(packages)("the package for %s", (name) => {
  test.each(pairs[name])(`works on %s: ${cases.length} cases`, (upstream) => {
    const result = results.find((one) => one.caller === `ai ${name}` && one.upstream === upstream);
    expect(result?.total).toBe(cases.length);
    expect(result?.faults.map((fault) => `${fault.case}: ${fault.what}`)).toEqual([]);
  });
});

describe("a conversation can continue at any other upstream, in the middle of a tool loop with reasoning", () => {
  test.each(packages)("with the package for %s", async (name) => {
    expect(await movedConversations(aiCaller({ url: setup.gateway.url, key: keys.main }, name))).toEqual([]);
  });
});

test("the Responses model needs `store: false` if answers are not stored; otherwise the error names the input", async () => {
  const openai = createOpenAI({ baseURL: `${setup.gateway.url}/v1`, apiKey: keys.main });
  const model = openai("matrix/anthropic/main");
  const message: ModelMessage = { role: "user", content: 'hi [[sim {"tokens":2}]]' };
  const askTwice = async (providerOptions: { readonly openai: { readonly store: boolean } }): Promise<string> => {
    const { responseMessages } = await generateText({ model, messages: [message], providerOptions, maxRetries: 0 });
    const messages = [message, ...responseMessages, message];
    return (await generateText({ model, messages, providerOptions, maxRetries: 0 })).text;
  };
  expect(await askTwice({ openai: { store: false } })).toBe(" the quick");
  const thrown = await askTwice({ openai: { store: true } }).catch((reason: unknown) => reason);
  if (!APICallError.isInstance(thrown)) throw new Error(`not the SDK's own error: ${String(thrown)}`);
  expect(thrown.statusCode).toBe(400);
  expect(JSON.parse(thrown.responseBody ?? "{}").error.param).toStartWith("input");
});
