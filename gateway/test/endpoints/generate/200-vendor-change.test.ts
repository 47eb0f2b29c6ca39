import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { lastUpstream, mixedVendorGateway, pieces } from "../mixed-vendor-gateway.ts";

interface Part {
  readonly thoughtSignature?: string;
  readonly thought?: boolean;
  readonly text?: string;
  readonly functionCall?: { readonly id?: string };
}

let gateway: StartedGateway;
/** A thought and a function call from another vendor's model. */
let thought: Part;
let call: Part;
beforeAll(async () => {
  gateway = await startGateway(mixedVendorGateway);
  const answer = await gateway.post("/v1beta/models/claude:generateContent", {
    contents: [{ role: "user", parts: [{ text: 'use f now [[sim {"tool_calls":1}]]' }] }],
    tools: [{ functionDeclarations: [{ name: "f", parametersJsonSchema: { type: "object" } }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 1_024 }, maxOutputTokens: 2_000 },
  });
  const { candidates } = (await answer.json()) as { candidates: { content: { parts: readonly Part[] } }[] };
  const parts = candidates[0]?.content.parts ?? [];
  thought = parts.find((part) => part.thought === true) ?? {};
  call = parts.find((part) => part.functionCall !== undefined) ?? {};
});
afterAll(() => gateway.stop());

const send = (model: string, body: string) =>
  gateway.post(`/v1beta/models/${model}:generateContent`, body, { script: { keep_received: true, tokens: 2 } });

const functionResponse = (id: string | undefined): string =>
  `{"functionResponse":{"id":"${id}","name":"f","response":{"output":"done"}}}`;
const resultTurn = (id: string | undefined): string => `{"role":"user","parts":[${functionResponse(id)}]}`;

/** A function call as JSON, in pieces. Its signature is removed, or replaced by `by`. */
function unsigned({ thoughtSignature, ...rest }: Part, by = ""): readonly (string | [string])[] {
  const text = JSON.stringify(rest).slice(0, -1);
  const signature = thoughtSignature?.replaceAll("=", "\\u003d").replaceAll("/", "\\/");
  return by === "" ? [text, [`, "thoughtSignature" : "${signature}"`], "}"] : [text, `, "thoughtSignature" : "${by}"}`];
}

test("changes only the content that another vendor sealed", async () => {
  expect(thought.thoughtSignature).toBeDefined();
  expect(call.thoughtSignature).toBeDefined();
  const body = pieces(
    `{"contents":[{"role":"user","parts":[{"text":"h\u00e9llo \\ud83c\\udf0a"},{"of_next_year":{"x":1.50}}]},`,
    [`{"role":"model","parts":[{"text":"Fir","thought":true}]},`],
    `{"role":"model" , "parts":[`,
    [`{"text":"st","thought":true}, ${JSON.stringify(thought)} ,`],
    ...unsigned(call),
    `]},${resultTurn(call.functionCall?.id)}],"tools":[{"googleSearch":{}},{"function_declarations":[{"name":"f","parametersJsonSchema":{"type":"object","$ref":"#/x"}}]}],
      "generationConfig":{"temperature":1.0,"of_next_year":[]},"safetySettings":[]}`,
  );
  const answer = await send("old-gem", body.sent);
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  expect(lastUpstream(gateway).body).toBe(body.expected);
});

test("signs the first call of a turn for Gemini 3 and later with Google's placeholder for calls of other vendors", async () => {
  const part = pieces(...unsigned(call)).sent;
  const first = pieces(...unsigned(call, "skip_thought_signature_validator")).expected;
  const later = pieces(...unsigned(call)).expected;
  const id = call.functionCall?.id;
  const bodyOf = (one: string, two: string): string =>
    `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[${one},${two}]},{"role":"user","parts":[${functionResponse(id)},${functionResponse(id)}]},
      {"role":"model","parts":[${one}]},${resultTurn(id)}]}`;
  const answer = await send("gem", bodyOf(part, part));
  expect(await answer.text()).toContain("usageMetadata");
  const expected = bodyOf(first, later);
  expect(lastUpstream(gateway).body).toBe(expected);
});
