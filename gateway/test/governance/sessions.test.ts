import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LedgerEntry } from "#core/index.ts";
import { aliceKey, hello, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

const bobKey = "sk-bob-0123456789abcdefghijkl";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("main", simulator),
      upstream("openai", simulator, { kind: "openai" }),
      upstream("claude", simulator, { kind: "anthropic" }),
      upstream("gemini", simulator, { kind: "gemini" }),
    ],
    models: [
      { name: "gpt-test", deployments: [{ provider: "main" }] },
      { name: "stored", deployments: [{ provider: "openai" }] },
      { name: "claude", deployments: [{ provider: "claude" }] },
      { name: "gemini", deployments: [{ provider: "gemini" }] },
    ],
    keys: [
      { name: "alice", secret: aliceKey },
      { name: "bob", secret: bobKey },
      { name: "tagged", secret: "sk-tagged-0123456789abcdefghij", tags: { session: "of the key" } },
    ],
  });
});
afterAll(() => gateway.stop());

type Recognized = Pick<LedgerEntry, "session" | "sessionSource" | "tags">;

async function latest(): Promise<Recognized> {
  const entry = (await gateway.entries())[0];
  return { session: entry?.session, sessionSource: entry?.sessionSource, tags: entry?.tags ?? {} };
}

async function chat(headers: Record<string, string>, more: object = {}, key = aliceKey): Promise<Recognized> {
  await (await gateway.chat({ ...hello, ...more }, { headers, key })).text();
  return await latest();
}

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Recognized> {
  const answer = await gateway.post(path, body, { headers });
  await answer.text();
  return await latest();
}

describe("the session of a call", () => {
  test("is the one that the caller names in a header or a tag, before the agent's own", async () => {
    const own = { "x-sluice-session": "job-1", "x-claude-code-session-id": "s-1" };
    expect(await chat(own)).toEqual({ session: "job-1", sessionSource: "header", tags: {} });
    const tagged = { "x-sluice-tags": "session=job-2,team=a", "session-id": "s-2" };
    expect(await chat(tagged)).toEqual({ session: "job-2", sessionSource: "header", tags: { team: "a" } });
  });

  test("is the one in the headers of Claude Code, Codex and OpenCode", async () => {
    const openCode = ["x-session-id", "x-session-affinity", "x-opencode-session"];
    for (const name of ["x-claude-code-session-id", "session_id", "session-id", ...openCode]) {
      expect(await chat({ [name]: "0199ab-cd" })).toMatchObject({ session: "0199ab-cd", sessionSource: "agent" });
    }
  });

  test("is the one in Claude Code's metadata", async () => {
    const ask = { model: "claude", max_tokens: 8, messages: [{ role: "user", content: "x" }] };
    const version = { "anthropic-version": "2023-06-01", "user-agent": "claude-cli/2.1.330 (external, cli)" };
    const withUser = (user_id: string) => post("/v1/messages?beta=true", { ...ask, metadata: { user_id } }, version);
    const json = JSON.stringify({ device_id: "d", account_uuid: "a", session_id: "0199-ab" });
    expect(await withUser(json)).toMatchObject({ session: "0199-ab", sessionSource: "agent" });
    expect(await withUser("user_d_account_a_session_0199-cd")).toMatchObject({ session: "0199-cd" });
    expect((await withUser("somebody")).session).toBeUndefined();
  });

  test("is the cache key of a coding agent, but not of other programs", async () => {
    const body = { prompt_cache_key: "ses_1", user: "u" };
    expect(await chat({ "user-agent": "opencode/1.18.4" }, body)).toMatchObject({
      session: "ses_1",
      sessionSource: "agent",
    });
    expect((await chat({ "user-agent": "OpenAI/Python 2.40.0" }, body)).session).toBeUndefined();
    const codex = { model: "gpt-test", input: "hi", store: false, stream: true, prompt_cache_key: "0199-ef" };
    const headers = { "user-agent": "codex_cli_rs/0.150.0 (Debian; x86_64)" };
    expect(await post("/v1/responses", codex, headers)).toMatchObject({ session: "0199-ef", sessionSource: "agent" });
  });

  test("is shared by the responses of a chain", async () => {
    const ask = { model: "stored", input: "hi" };
    const first = (await (await gateway.post("/v1/responses", ask)).json()) as { id: string };
    const root = await latest();
    expect(root).toMatchObject({ session: expect.stringMatching(/^req_/), sessionSource: "chain" });
    const second = await (await gateway.post("/v1/responses", { ...ask, previous_response_id: first.id })).json();
    expect(await latest()).toEqual(root);
    await (await gateway.post("/v1/responses", { ...ask, previous_response_id: (second as { id: string }).id })).text();
    expect(await latest()).toEqual(root);
    const named = { "x-sluice-session": "mine" };
    const third = (await (await gateway.post("/v1/responses", ask, { headers: named })).json()) as { id: string };
    expect(await post("/v1/responses", { ...ask, previous_response_id: third.id })).toMatchObject({
      session: "mine",
      sessionSource: "chain",
    });
  });

  test("is inferred from the beginning of a long prompt", async () => {
    const parts = (text: string) => [{ text }];
    const contents = [{ role: "user", parts: parts("fix the bug") }];
    const systemInstruction = { parts: parts("You are an agent. ".repeat(400)) };
    const path = "/v1beta/models/gemini:generateContent";
    const headers = { "user-agent": "GeminiCLI/0.40.0 (linux; x64)" };
    const first = await post(path, { contents, systemInstruction }, headers);
    expect(first).toMatchObject({ session: expect.stringMatching(/^prefix_/), sessionSource: "prefix" });
    const more = [...contents, { role: "model", parts: parts("done") }, { role: "user", parts: parts("thanks") }];
    expect(await post(path, { contents: more, systemInstruction }, headers)).toEqual(first);
    const other = [{ role: "user", parts: parts("write a test") }];
    expect((await post(path, { contents: other, systemInstruction }, headers)).session).not.toBe(first.session);
    expect((await chat({})).session).toBeUndefined();
  });

  test("is not an id that is too long, has control characters, or is only dots", async () => {
    for (const id of ["x".repeat(1_000), "..", "a b", "é"]) {
      expect((await chat({ "x-sluice-session": id })).session).toBeUndefined();
    }
    const metadata = { user_id: `_session_${"x".repeat(200)}` };
    const ask = { model: "claude", max_tokens: 8, messages: [{ role: "user", content: "x" }], metadata };
    expect((await post("/v1/messages", ask, { "anthropic-version": "2023-06-01" })).session).toBeUndefined();
  });

  test("is not a tag of the key", async () => {
    const { session, tags } = await chat({}, {}, "sk-tagged-0123456789abcdefghij");
    expect([session, tags]).toEqual([undefined, { session: "of the key" }]);
  });
});
