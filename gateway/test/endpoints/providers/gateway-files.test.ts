import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { bearer, fileForm, upload } from "../files/files-gateway.ts";

const malloryKey = "sk-mallory-0123456789abcdefghij";

let gateway: StartedGateway;
beforeAll(async () => {
  const grants = (key: string, secret: string, pass_through: string[]) => ({
    pass_through,
    groups: [{ name: "default", pass_through }],
    keys: [{ name: key, secret, pass_through }],
  });
  gateway = await startGateway({
    providers: (simulator) => [
      upstream("openai", simulator, { kind: "openai", settings: { pass_through: { price_per_call: 0 } } }),
      upstream("alone", simulator, { kind: "openai" }),
      upstream("plain", simulator),
    ],
    models: [{ name: "gpt", deployments: [{ provider: "openai" }] }],
    workspace: { models: ["*"], ...grants("alice", aliceKey, ["openai", "alone", "plain"]) },
    moreWorkspaces: [{ slug: "rival", models: ["*"], ...grants("mallory", malloryKey, ["openai"]) }],
  });
});
afterAll(() => gateway.stop());

const newFile = async (key = aliceKey) =>
  (await upload(gateway, fileForm({ purpose: "user_data" }, "The sea is blue."), bearer(key))).id;
const pass = (provider: string, path: string, body: object, key = aliceKey) =>
  gateway.post(`/v1/providers/${provider}${path}`, body, { key });
const copies = () => gateway.simulator.simulator.files.list();

describe.each(["openai", "alone"])("the account %s", (provider) => {
  test("gets its own copy of a file that a JSON body names, and the answer has the caller's id", async () => {
    const id = await newFile();
    const made = await pass(provider, "/v1/vector_stores", { name: "docs", file_ids: [id], metadata: { file: id } });
    expect(made.status).toBe(200);
    const store = (await made.json()) as { id: string };
    expect(store).toMatchObject({ file_counts: { completed: 1 }, metadata: { file: id } });
    const added = await pass(provider, `/v1/vector_stores/${store.id}/files`, { file_id: id });
    expect(await added.json()).toMatchObject({ id, object: "vector_store.file", status: "completed" });
    expect(copies().at(-1)?.id).not.toBe(id);
  });

  test("does not get a file of another workspace, which is answered like a missing file", async () => {
    const body = { name: "docs", file_ids: [await newFile(malloryKey)] };
    const before = copies().length;
    const foreign = await errorOf(await pass(provider, "/v1/vector_stores", body));
    const missing = await errorOf(
      await pass(provider, "/v1/vector_stores", { name: "docs", file_ids: [`file-${"0".repeat(26)}`] }),
    );
    expect(foreign).toMatchObject({ status: 404, code: "not_found", param: "file_ids" });
    expect(missing).toMatchObject({ status: 404, code: "not_found", param: "file_ids" });
    expect(copies().length).toBe(before);
  });
});

test("a call of a model through a provider names the account's copy", async () => {
  const id = await newFile();
  const content = [
    { type: "input_text", text: "What is blue?" },
    { type: "input_file", file_id: id },
  ];
  const { simulator } = gateway.simulator;
  simulator.addPreset({ script: { keep_received: true }, count: 1, model: null });
  const body = { model: "gpt", input: [{ type: "message", role: "user", content }] };
  const answer = await pass("openai", "/v1/responses", body);
  expect([answer.status, answer.status === 200 ? "" : await answer.text()]).toEqual([200, ""]);
  const received = simulator.truth.list().data.findLast((record) => record.received_body !== undefined)?.received_body;
  expect(received).toContain(copies().at(-1)?.id ?? "?");
  expect(received).not.toContain(id);
});

test("a form, and an account without files, cannot name one", async () => {
  const id = await newFile();
  const form = new FormData();
  form.append("model", "sora-2");
  form.append("prompt", "the sea");
  form.append("input_reference[file_id]", id);
  const url = `${gateway.url}/v1/providers/openai/v1/videos`;
  const inForm = await errorOf(await fetch(url, { method: "POST", headers: bearer(), body: form }));
  expect(inForm).toMatchObject({ status: 400, code: "invalid_request", param: "file_id" });
  const plain = await errorOf(await pass("plain", "/v1/vector_stores", { name: "docs", file_ids: [id] }));
  expect(plain).toMatchObject({ status: 400, code: "unsupported_by_model" });
});
