import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../../started-gateway.ts";
import { arrived, movedGateway, pieces } from "../moved-gateway.ts";

interface Part {
  readonly thoughtSignature?: string;
  readonly thought?: boolean;
  readonly text?: string;
  readonly functionCall?: { readonly id?: string };
}

let gateway: StartedGateway;
/** A thought, and then a call, of another vendor's model. */
let thought: Part;
let call: Part;
beforeAll(async () => {
  gateway = await startGateway(movedGateway);
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

const answered = (id: string | undefined): string =>
  `{"functionResponse":{"id":"${id}","name":"f","response":{"output":"done"}}}`;
const result = (id: string | undefined): string => `{"role":"user","parts":[${answered(id)}]}`;

/** A call as JSON, in pieces: its signature alone goes. */
function unsigned({ thoughtSignature, ...rest }: Part, by = ""): readonly (string | [string])[] {
  const text = JSON.stringify(rest).slice(0, -1);
  const signature = thoughtSignature?.replaceAll("=", "\\u003d").replaceAll("/", "\\/");
  return by === "" ? [text, [`, "thoughtSignature" : "${signature}"`], "}"] : [text, `, "thoughtSignature" : "${by}"}`];
}

test("after a turn of another vendor the body arrives byte for byte, but for what that one sealed", async () => {
  expect(thought.thoughtSignature).toBeDefined();
  expect(call.thoughtSignature).toBeDefined();
  const body = pieces(
    `{"contents":[{"role":"user","parts":[{"text":"h\u00e9llo \\ud83c\\udf0a"},{"of_next_year":{"x":1.50}}]},`,
    [`{"role":"model","parts":[{"text":"Fir","thought":true}]},`],
    `{"role":"model" , "parts":[`,
    [`{"text":"st","thought":true}, ${JSON.stringify(thought)} ,`],
    ...unsigned(call),
    `]},${result(call.functionCall?.id)}],"tools":[{"googleSearch":{}},{"function_declarations":[{"name":"f","parametersJsonSchema":{"type":"object","$ref":"#/x"}}]}],
      "generationConfig":{"temperature":1.0,"of_next_year":[]},"safetySettings":[]}`,
  );
  const answer = await send("old-gem", body.sent);
  expect([answer.status, answer.headers.get("x-sluice-warnings")]).toEqual([200, null]);
  expect(arrived(gateway).body).toBe(body.kept);
});

test("from Gemini 3 on the first call of a turn gets the signature that the vendor has for calls of others", async () => {
  const part = pieces(...unsigned(call)).sent;
  const first = pieces(...unsigned(call, "skip_thought_signature_validator")).kept;
  const later = pieces(...unsigned(call)).kept;
  const id = call.functionCall?.id;
  const bodyOf = (one: string, two: string): string =>
    `{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[${one},${two}]},{"role":"user","parts":[${answered(id)},${answered(id)}]},
      {"role":"model","parts":[${one}]},${result(id)}]}`;
  const answer = await send("gem", bodyOf(part, part));
  expect(await answer.text()).toContain("usageMetadata");
  const expected = bodyOf(first, later);
  expect(arrived(gateway).body).toBe(expected);
});
