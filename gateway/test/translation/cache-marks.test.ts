import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("marks-all", simulator, { kind: "anthropic", settings: { cache_marks: true } }),
    ],
    models: ["claude", "marks-all"].map((name) => ({ name, deployments: [{ provider: name }] })),
  });
  gateway.simulator.simulator.addPreset({ script: { keep_received: true }, count: null, model: null });
});
afterAll(() => gateway.stop());

interface UpstreamBody {
  readonly system?: readonly { readonly cache_control?: object }[];
  readonly messages: readonly { readonly content: readonly { readonly cache_control?: object }[] }[];
}

const messages = [
  { role: "system", content: "be brief" },
  { role: "user", content: "one document of many" },
];

/** The cache marks that the upstream received, on the instructions and on the last message. */
async function marksAfter(path: string, body: object): Promise<readonly (object | undefined)[]> {
  const response = await gateway.post(path, body);
  expect(response.status).toBe(200);
  await response.text();
  const [entry] = await gateway.entries();
  const attempt = gateway.simulator.simulator.truth.find(entry?.attemptId ?? "");
  const sent = JSON.parse(attempt?.received_body ?? "{}") as UpstreamBody;
  return [sent.system?.at(-1)?.cache_control, sent.messages.at(-1)?.content.at(-1)?.cache_control];
}
const chat = (body: object) => marksAfter("/v1/chat/completions", { model: "claude", messages, ...body });
const mark = { type: "ephemeral" };

test("sends no cache mark when the caller asks for no cache", async () => {
  expect(await chat({})).toEqual([undefined, undefined]);
  expect(await chat({ prompt_cache_options: { mode: "explicit" } })).toEqual([undefined, undefined]);
  const responses = { model: "claude", instructions: "be brief", input: "one document of many" };
  expect(await marksAfter("/v1/responses", responses)).toEqual([undefined, undefined]);
  expect(await marksAfter("/v1/responses", { ...responses, prompt_cache_key: "conversation" })).toEqual([mark, mark]);
});

test("adds cache marks when the caller asks for a cache, for an hour if requested", async () => {
  expect(await chat({ prompt_cache_key: "conversation" })).toEqual([mark, mark]);
  expect(await chat({ prompt_cache_options: { mode: "implicit" } })).toEqual([mark, mark]);
  const hour = { ...mark, ttl: "1h" };
  expect(await chat({ prompt_cache_retention: "24h" })).toEqual([hour, hour]);
});

test("sends only the caller's own marks", async () => {
  const marked = [{ type: "text", text: "be brief", cache_control: mark }];
  const own = [{ role: "system", content: marked }, messages[1]];
  expect(await chat({ messages: own, prompt_cache_key: "conversation" })).toEqual([mark, undefined]);
});

test("marks every translated call when the account is configured so", async () => {
  expect(await chat({ model: "marks-all" })).toEqual([mark, mark]);
});
