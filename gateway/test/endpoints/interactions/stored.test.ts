import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, type StartedGateway } from "../../started-gateway.ts";
import { create, errorOf, eventsIn, type Interaction, malloryKey, startInteractions } from "./interactions-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startInteractions({}, ["one", "two", "three"]);
});
afterAll(() => gateway.stop());

const send = (path: string, method = "GET", key = aliceKey): Promise<Response> =>
  fetch(`${gateway.url}/v1beta/interactions/${path}`, { method, headers: { "x-goog-api-key": key } });
const upstreamCalls = (): number => gateway.simulator.simulator.truth.list().total;

test("reads, continues and deletes an interaction at the account that created it", async () => {
  for (let round = 0; round < 6; round++) {
    const created = await gateway.post("/v1beta/interactions", { model: "gemini", input: "Hi" });
    const provider = created.headers.get("x-sluice-provider");
    const { id } = (await created.json()) as Interaction;
    const read = await send(id);
    expect([read.status, read.headers.get("x-sluice-provider")]).toEqual([200, provider]);
    expect(((await read.json()) as Interaction).id).toBe(id);
    const body = { model: "gemini", input: "And now?", previous_interaction_id: id };
    const next = await gateway.post("/v1beta/interactions", body);
    expect([next.status, next.headers.get("x-sluice-provider")]).toEqual([200, provider]);
    expect((await send(id, "DELETE")).status).toBe(200);
    expect((await send(id)).status).toBe(404);
  }
});

test("streams a stored interaction again from an event", async () => {
  const { id } = await create(gateway);
  const whole = eventsIn(await (await send(`${id}?stream=true`)).text());
  const rest = eventsIn(await (await send(`${id}?stream=true&last_event_id=3`)).text());
  expect(rest).toEqual(whole.slice(3));
});

test("an interaction that is not stored can neither be read nor continued", async () => {
  const { id } = await create(gateway, { store: false });
  expect((await send(id)).status).toBe(404);
  const body = { model: "gemini", input: "And now?", previous_interaction_id: id };
  expect((await errorOf(await gateway.post("/v1beta/interactions", body))).status).toBe(400);
});

describe("an interaction of another workspace at a shared account", () => {
  test.each([
    ["GET", ""],
    ["GET", "?stream=true"],
    ["POST", "/cancel"],
    ["DELETE", ""],
  ])("is not found by %s%s, and no upstream is called", async (method, rest) => {
    const { id } = await create(gateway);
    const before = upstreamCalls();
    const theirs = await errorOf(await send(`${id}${rest}`, method, malloryKey));
    const missing = await errorOf(await send(`v1_missing${rest}`, method, malloryKey));
    expect({ ...theirs, message: theirs.message.replace(id, "v1_missing") }).toEqual(missing);
    expect([theirs.status, theirs.code, upstreamCalls()]).toEqual([404, "not_found", before]);
    expect((await send(id)).status).toBe(200);
  });

  test("is not continued", async () => {
    const { id } = await create(gateway);
    const before = upstreamCalls();
    const body = { model: "gemini", input: "Go on.", previous_interaction_id: id };
    const theirs = await errorOf(await gateway.post("/v1beta/interactions", body, { key: malloryKey }));
    expect([theirs.status, upstreamCalls()]).toEqual([400, before]);
    expect(theirs.message).toBe(`There is no interaction with the id "${id}" to continue.`);
  });

  test.each<[string, object]>([
    ["a file", { input: [{ type: "document", uri: "files/of-acme", mime_type: "application/pdf" }] }],
    [
      "a file in a tool's result",
      {
        input: [
          { type: "user_input", content: [{ type: "text", text: "Hi" }] },
          { type: "function_call", id: "c", name: "f", arguments: {} },
          { type: "function_result", call_id: "c", result: [{ type: "image", uri: "files/of-acme" }] },
        ],
      },
    ],
    ["a cache", { cached_content: "cachedContents/of-acme" }],
    ["a store of files", { tools: [{ type: "file_search", file_search_store_names: ["fileSearchStores/of-acme"] }] }],
    ["the same in camelCase", { tools: [{ type: "file_search", fileSearchStoreNames: ["fileSearchStores/of-acme"] }] }],
    ["an environment", { environment: "env-of-acme" }],
    ["an environment in an object", { environment: { type: "remote", environment_id: "env-of-acme" } }],
    ["a session of an agent", { model: undefined, agent: "research", agent_config: { session_id: "of-acme" } }],
    ["a token", { continuation_token: "token-of-acme" }],
    ["a long token", { continuation_token: "t".repeat(2_000) }],
  ])("%s is not found", async (_title, more) => {
    const before = upstreamCalls();
    const body = { model: "gemini", input: "Hi", ...more };
    const error = await errorOf(await gateway.post("/v1beta/interactions", body, { key: malloryKey }));
    expect([error.status, error.code, upstreamCalls()]).toEqual([404, "not_found", before]);
  });

  test("its token continues it only there", async () => {
    const script = { finish: "pause" } as const;
    const first = await create(gateway, { store: false }, { script });
    const body = { model: "gemini", input: "Hi", store: false, continuation_token: first.continuation_token };
    const theirs = await errorOf(await gateway.post("/v1beta/interactions", body, { key: malloryKey }));
    expect(theirs.status).toBe(404);
    expect((await gateway.post("/v1beta/interactions", body)).status).toBe(200);
  });
});

test("members of the caller's own data name nothing", async () => {
  const body = {
    model: "gemini",
    input: [
      { type: "user_input", content: [{ type: "text", text: "Hi" }] },
      { type: "function_call", id: "c", name: "f", arguments: { engine: "v8", uri: "files/x" } },
      { type: "function_result", call_id: "c", result: { engine: "v8", uri: "files/x", credential: "none" } },
    ],
  };
  expect((await gateway.post("/v1beta/interactions", body)).status).toBe(200);
});

test.each([
  ["v1_1%0d%0ax-evil:1", 400],
  ["..", 404],
  ["%00", 400],
  ["v".repeat(300), 404],
  ["v1_1:generateContent", 404],
])("GET of the id %j returns %d, and no upstream is called", async (id, status) => {
  const before = upstreamCalls();
  const response = await send(id);
  expect([response.status, upstreamCalls()]).toEqual([status, before]);
});
