import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { bearer, fileForm, upload } from "../files/files-gateway.ts";

const malloryKey = "sk-mallory-0123456789abcdefghij";

let gateway: StartedGateway;
/** The last form for a video that the accounts received. */
let receivedForm = "";
const vendor = (simulator: { readonly url: string }) =>
  Bun.serve({
    idleTimeout: 0,
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.body === null ? {} : { body: await request.arrayBuffer() };
      if (!pathname.endsWith("/videos")) {
        const url = `${simulator.url.replace(/\/v1$/, "")}${pathname}${search}`;
        return await fetch(url, { method: request.method, headers: request.headers, ...body });
      }
      receivedForm = Buffer.from(body.body ?? new ArrayBuffer()).toString();
      return Response.json({ id: "video_1", object: "video" });
    },
  });
let server: ReturnType<typeof vendor>;
beforeAll(async () => {
  const grants = (key: string, secret: string, pass_through: string[]) => ({
    pass_through,
    groups: [{ name: "default", pass_through }],
    keys: [{ name: key, secret, pass_through }],
  });
  gateway = await startGateway({
    providers: (simulator) => {
      server = vendor(simulator);
      const base_url = `http://127.0.0.1:${server.port}/v1`;
      return [
        upstream("openai", simulator, {
          ...{ kind: "openai", base_url, settings: { pass_through: { price_per_call: 0 } } },
        }),
        upstream("alone", simulator, { kind: "openai", base_url }),
        upstream("plain", simulator),
      ];
    },
    models: [{ name: "gpt", deployments: [{ provider: "openai" }] }],
    workspace: { models: ["*"], ...grants("alice", aliceKey, ["openai", "alone", "plain"]) },
    moreWorkspaces: [{ slug: "rival", models: ["*"], ...grants("mallory", malloryKey, ["openai"]) }],
  });
});
afterAll(async () => {
  await gateway.stop();
  await server.stop(true);
});

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

describe.each(["openai", "alone"])("a form to the account %s", (provider) => {
  const send = (form: FormData, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/providers/${provider}/v1/videos`, {
      method: "POST",
      headers: { ...bearer(), ...headers },
      body: form,
    });

  test("names the account's copies, and its other bytes are unchanged", async () => {
    const id = await newFile();
    const form = new FormData();
    form.append("prompt", `the sea of ${id}`);
    form.append("input_reference[file_id]", id);
    form.append("extra", JSON.stringify({ file_ids: [id], length: 3 }));
    form.append("upload", new Blob([`bytes of ${id}`]), "a.bin");
    const answer = await send(form);
    const copy = copies().at(-1)?.id ?? "?";
    const sent = receivedForm;
    expect([answer.status, sent.includes(`name="input_reference[file_id]"\r\n\r\n${copy}\r\n`)]).toEqual([200, true]);
    expect(sent).toContain(`{"file_ids":["${copy}"],"length":3}`);
    expect(sent).toContain(`the sea of ${id}\r\n`);
    expect(sent).toContain(`bytes of ${id}\r\n`);
  });

  test("does not get a file of another workspace", async () => {
    const form = new FormData();
    form.append("file_id", await newFile(malloryKey));
    const before = copies().length;
    expect(await errorOf(await send(form))).toMatchObject({ status: 404, code: "not_found", param: "file_id" });
    expect(copies().length).toBe(before);
  });
});

test("an account without files cannot name one", async () => {
  const id = await newFile();
  const plain = await errorOf(await pass("plain", "/v1/vector_stores", { name: "docs", file_ids: [id] }));
  expect(plain).toMatchObject({ status: 400, code: "unsupported_by_model" });
  const form = new FormData();
  form.append("file_id", id);
  const url = `${gateway.url}/v1/providers/plain/v1/videos`;
  const inForm = await errorOf(await fetch(url, { method: "POST", headers: bearer(), body: form }));
  expect(inForm).toMatchObject({ status: 400, code: "unsupported_by_model" });
});
