import { afterAll, beforeAll, expect, test } from "bun:test";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [upstream("main", simulator), upstream("claude", simulator, { kind: "anthropic" })],
    models: ["gpt-test", "claude"].map((name, index) => ({
      name,
      deployments: [{ provider: index === 0 ? "main" : "claude" }],
      price: { input: 1, cache_read: 0.1, output: 2 },
    })),
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "tagged", secret: "sk-tagged-0123456789abcdefghij", tags: { session: "of the key" } },
    ],
  });
});
afterAll(() => gateway.stop());

const answered = { tokens: 1, prompt_tokens: 1_000, cached_tokens: 900 };

async function tagsAfter(headers: Record<string, string>, key = aliceKey) {
  await (await gateway.chat(hello, { script: answered, headers, key })).text();
  return (await gateway.entries())[0]?.tags;
}

test("a call's entry has the session that its client sends", async () => {
  expect(await tagsAfter({ "x-claude-code-session-id": "s-1" })).toEqual({ session: "s-1" });
  expect(await tagsAfter({ session_id: "s-2", "x-sluice-tags": "team=a" })).toEqual({ session: "s-2", team: "a" });
  expect(await tagsAfter({ "session-id": "s-3", "x-sluice-tags": "session=own" })).toEqual({ session: "own" });
  expect(await tagsAfter({ "session-id": "s-4" }, "sk-tagged-0123456789abcdefghij")).toEqual({ session: "of the key" });
  expect(await tagsAfter({ "x-session-id": "x".repeat(1_000) })).toEqual({});
  expect(await tagsAfter({})).toEqual({});
});

test("uses Claude Code's metadata when no header names a session", async () => {
  const ask = { model: "claude", max_tokens: 8, messages: [{ role: "user", content: "x" }] };
  const tags = async (user_id: string) => {
    const headers = { "anthropic-version": "2023-06-01" };
    await (await gateway.post("/v1/messages", { ...ask, metadata: { user_id } }, { headers })).text();
    return (await gateway.entries())[0]?.tags;
  };
  expect(await tags(JSON.stringify({ device_id: "d", account_uuid: "a", session_id: "0199-ab" }))).toEqual({
    session: "0199-ab",
  });
  expect(await tags("user_d_account_a_session_0199-cd")).toEqual({ session: "0199-cd" });
  expect(await tags("somebody")).toEqual({});
});
