import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, type StartedGateway, startGateway, upstream } from "../started-gateway.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  const settings = { objects: ["listed"] };
  const shared = { models: ["*"], pass_through: ["openai", "claude", "google"] };
  const withKey = (name: string, secret: string) => ({
    groups: [{ name: "default", pass_through: shared.pass_through }],
    keys: [{ name, secret, pass_through: shared.pass_through }],
  });
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("openai", simulator, { kind: "openai", settings }),
      upstream("claude", simulator, { kind: "anthropic", settings }),
      upstream("google", simulator, { kind: "gemini", settings }),
    ],
    models: [
      { name: "gpt", deployments: [{ provider: "openai" }] },
      { name: "claude", deployments: [{ provider: "claude" }] },
      { name: "gem", deployments: [{ provider: "google" }] },
    ],
    workspace: { ...shared, ...withKey("alice", aliceKey) },
    moreWorkspaces: [{ slug: "rival", ...shared, ...withKey("mallory", "sk-mallory-0123456789abcdefghij") }],
  });
});
afterAll(() => gateway.stop());

/** The same call at an endpoint of the gateway, and passed through to the account's API. */
const ways = {
  responses: ["/v1/responses", "/v1/providers/openai/responses"],
  chat: ["/v1/chat/completions", "/v1/providers/openai/chat/completions"],
  messages: ["/v1/messages", "/v1/providers/claude/messages"],
  generate: ["/v1beta/models/gem:generateContent", "/v1/providers/google/models/gem:generateContent"],
} as const;

const foreign = "object_of_another_workspace";
const responses = (more: object) => ({ model: "gpt", input: "x", ...more });
const tool = (one: object) => responses({ tools: [one] });
const item = (one: object) => responses({ input: [{ role: "user", content: "x" }, one] });
const retrieval = (store: object) => ({ contents: [{ parts: [{ text: "x" }] }], tools: [{ retrieval: store }] });
const hosted = { type: "container_reference", container_id: foreign };
const skill = { type: "skill_reference", skill_id: foreign };

const named: readonly [what: string, where: keyof typeof ways, member: string, body: object][] = [
  ["a hosted shell's container", "responses", "container_id", tool({ type: "shell", environment: hosted })],
  [
    "the container of a shell call",
    "responses",
    "container_id",
    item({ type: "shell_call", call_id: "c", action: { commands: ["ls"] }, environment: hosted }),
  ],
  [
    "the container of a code interpreter call",
    "responses",
    "container_id",
    item({ type: "code_interpreter_call", id: "ci_1", status: "completed", code: "1", container_id: foreign }),
  ],
  [
    "the container of a code interpreter",
    "responses",
    "container_id",
    tool({ type: "code_interpreter", container: { type: "auto", container_id: foreign } }),
  ],
  [
    "a shell's skill",
    "responses",
    "skill_id",
    tool({ type: "shell", environment: { type: "container_auto", skills: [skill] } }),
  ],
  [
    "a generated image",
    "responses",
    "id",
    item({ id: foreign, type: "image_generation_call", status: "completed", result: null }),
  ],
  ["a conversation", "responses", "id", responses({ conversation: { id: foreign } })],
  ["an item", "responses", "id", item({ id: foreign, type: "item_reference" })],
  [
    "a Claude skill",
    "messages",
    "skill_id",
    {
      model: "claude",
      max_tokens: 9,
      container: { skills: [{ type: "custom", skill_id: foreign, version: "latest" }] },
      messages: [{ role: "user", content: "x" }],
    },
  ],
  [
    "a sound",
    "chat",
    "id",
    {
      model: "gpt",
      messages: [
        { role: "assistant", audio: { id: foreign } },
        { role: "user", content: "x" },
      ],
    },
  ],
  ["a corpus", "generate", "ragCorpus", retrieval({ vertexRagStore: { ragResources: [{ ragCorpus: foreign }] } })],
  [
    "a corpus, in snake case",
    "generate",
    "rag_corpus",
    retrieval({ vertex_rag_store: { rag_resources: [{ rag_corpus: foreign }] } }),
  ],
  ["a data store", "generate", "datastore", retrieval({ vertexAiSearch: { datastore: foreign } })],
];

/** One body in spellings that JSON readers take as equal, or of which they take the last or the first. */
function spellings(body: object, member: string): readonly (readonly [how: string, text: string])[] {
  const text = JSON.stringify(body);
  const pair = `"${member}":"${foreign}"`;
  expect(text.split(pair)).toHaveLength(2);
  const escaped = [...member].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
  const id = `\\u${foreign.charCodeAt(0).toString(16).padStart(4, "0")}${foreign.slice(1)}`;
  const listed = `"${member}":"listed"`;
  return [
    ["plainly", text],
    ["with an escaped name", text.replace(pair, `"${escaped}":"${foreign}"`)],
    ["with an escaped id", text.replace(pair, `"${member}":"${id}"`)],
    ["before an allowed one", text.replace(pair, `${pair},${listed}`)],
    ["after an allowed one", text.replace(pair, `${listed},${pair}`)],
    ["after an allowed one, with an escaped name", text.replace(pair, `${listed},"${escaped}":"${foreign}"`)],
  ];
}

test("rejects an item with two types, because readers could disagree", async () => {
  const input = `[{"type":"item_reference","id":"${foreign}","type":"message","role":"user","content":"x"}]`;
  const answer = await gateway.post("/v1/responses", `{"model":"gpt","input":${input}}`);
  expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('duplicate member \\"type\\"')]);
});

describe.each(named)("%s of another workspace", (_what, where, member, body) => {
  test.each(ways[where])("returns 404 at %s in every spelling of the body", async (path) => {
    const upstreamCalls = () => gateway.simulator.simulator.truth.list().total;
    const before = upstreamCalls();
    const accepted: string[] = [];
    for (const [how, text] of spellings(body, member)) {
      const answer = await gateway.post(path, text, { headers: { "anthropic-version": "2023-06-01" } });
      const reply = await answer.text();
      // A duplicate id is refused as such.
      const refused =
        answer.status === 404 ? /There is no object/ : how.includes("allowed") ? /twice|duplicate|one id/ : /^$/;
      if (answer.status >= 500 || !refused.test(reply)) accepted.push(`${how}: ${answer.status} ${reply}`);
    }
    expect(accepted).toEqual([]);
    expect(upstreamCalls()).toBe(before);
  });
});
