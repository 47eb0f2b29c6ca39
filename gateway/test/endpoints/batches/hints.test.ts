import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { bounds } from "#core/index.ts";
import { until } from "../../../../test/until.ts";
import { MovedClock } from "../../moved-clock.ts";
import { aliceKey, errorOf, type StartedGateway, startGateway, upstream } from "../../started-gateway.ts";
import { chatRow, clientOf, createBatch } from "./batch-client.ts";
import { BatchVendor } from "./batch-vendor.ts";
import { hintOf, hintSecret, sendHint, signedHint } from "./hint-sender.ts";

const hour = 3_600_000;
let vendor: BatchVendor;
let clock: MovedClock;
let gateway: StartedGateway;
/** Polls of batches. */
let polls = 0;

beforeEach(async () => {
  vendor = new BatchVendor();
  polls = 0;
  vendor.beforeAnswer = (method, path) => {
    if (method === "GET" && /\/batches\/\w+$/.test(path)) polls++;
  };
  clock = new MovedClock();
  const settings = { batches: true, webhook_secret: hintSecret };
  gateway = await startGateway({
    clock,
    providers: (simulator) => [
      upstream("main", simulator, { kind: "openai", base_url: vendor.url, settings }),
      upstream("other", simulator, { kind: "openai", base_url: vendor.url, settings }),
      upstream("plain", simulator, { kind: "openai", base_url: vendor.url, settings: { batches: true } }),
      upstream("google", simulator, { kind: "gemini", base_url: `${vendor.origin}/v1beta`, settings }),
    ],
    models: [
      { name: "gpt-test", deployments: [{ provider: "main" }], price: { input: 1, output: 10 } },
      { name: "gemini-test", deployments: [{ provider: "google" }], price: { input: 1, output: 10 } },
    ],
  });
});
afterEach(async () => {
  await gateway.stop();
  vendor.stop();
});

const stored = async () => {
  const { kysely } = gateway.control.database;
  const row = await kysely.selectFrom("batches").select(["state", "due_at", "hint_at"]).executeTakeFirstOrThrow();
  return { state: row.state, dueAt: Number(row.due_at ?? 0), hintAt: Number(row.hint_at ?? 0) };
};

/** Creates a batch and waits until its next poll is almost a minute away. Resolves to its id at the vendor. */
async function waitingBatch(create: () => Promise<unknown>): Promise<string> {
  await create();
  await until(() => vendor.batches.length === 1);
  await until(async () => (await stored()).dueAt > clock.now());
  clock.move(hour);
  await restsAgain();
  return vendor.batches[0]?.id ?? "";
}

const restsAgain = () => until(async () => (await stored()).dueAt > clock.now() + 40_000);
const openaiBatch = () => createBatch(clientOf(gateway), [chatRow("a"), chatRow("b")]);
const send = (hint: ReturnType<typeof signedHint>, provider = "main") => sendHint(gateway.url, provider, hint);

describe("a vendor's webhook about its batch", () => {
  test("makes the gateway poll it at once", async () => {
    const id = await waitingBatch(openaiBatch);
    vendor.end();
    const hint = signedHint(hintOf(id), { at: clock.now() });
    expect((await send(hint)).status).toBe(204);
    // Without the webhook the next poll would be after 40 seconds or later, and this clock is not moved.
    await until(async () => (await stored()).state === "completed");
  });

  test("is signed as OpenAI's SDK verifies it", async () => {
    const { headers, body } = signedHint(hintOf("batch_1"), { at: Date.now() });
    const event = await new OpenAI({ apiKey: "none" }).webhooks.unwrap(body, headers, hintSecret);
    expect(event).toMatchObject({ type: "batch.completed", data: { id: "batch_1" } });
  });

  test("does not decide how the batch ended", async () => {
    const id = await waitingBatch(openaiBatch);
    const before = polls;
    expect((await send(signedHint(hintOf(id, "batch.failed"), { at: clock.now() }))).status).toBe(204);
    await until(() => polls === before + 1);
    await restsAgain();
    expect((await stored()).state).toBe("in_progress");
  });

  test("comes from Google with its names of events and ids", async () => {
    const ai = new GoogleGenAI({ apiKey: aliceKey, httpOptions: { baseUrl: gateway.url } });
    const id = await waitingBatch(() => ai.batches.create({ model: "gemini-test", src: [{ contents: "hi" }] }));
    for (const named of [id, `batches/${id}`]) {
      const before = polls;
      const event = { type: "batch.succeeded", version: "v1", data: { id: named, output_file_uri: "files/x" } };
      expect((await send(signedHint(event, { at: clock.now() }), "google")).status).toBe(204);
      await until(() => polls === before + 1);
      await restsAgain();
      clock.move(10_000);
    }
  });

  test("is refused with a wrong signature, an old or a future time, and at accounts without a secret", async () => {
    const id = await waitingBatch(openaiBatch);
    const before = await stored();
    const at = clock.now();
    const good = signedHint(hintOf(id), { at });
    const other = signedHint(hintOf(id), { at, secret: `whsec_${btoa("another key of 32 bytes, or more")}` });
    const without = (name: string) => ({ ...good, headers: { ...good.headers, [name]: "" } });
    const refused = [
      await send(other),
      await send({ ...good, body: good.body.replace("completed", "cancelled") }),
      await send(signedHint(hintOf(id), { at: at - 301_000 })),
      await send(signedHint(hintOf(id), { at: at + 302_000 })),
      await send(without("webhook-signature")),
      await send(without("webhook-id")),
      await send({ ...good, headers: { ...good.headers, "webhook-timestamp": "soon" } }),
      await send({ ...good, headers: { ...good.headers, "webhook-signature": "v1," } }),
      await send(good, "plain"),
      await send(good, "missing"),
    ];
    const errors = await Promise.all(refused.map(errorOf));
    expect(new Set(errors.map(({ status, code, message }) => `${status} ${code} ${message}`)).size).toBe(1);
    expect(errors[0]).toMatchObject({ status: 404, code: "not_found" });
    expect(await stored()).toEqual(before);
  });

  test("has no effect on a batch of another account, and unknown batches answer like stored ones", async () => {
    const id = await waitingBatch(openaiBatch);
    const before = await stored();
    const at = clock.now();
    expect((await send(signedHint(hintOf(id), { at }), "other")).status).toBe(204);
    expect((await send(signedHint(hintOf("batch_unknown"), { at }))).status).toBe(204);
    expect((await send(signedHint(hintOf(id, "response.completed"), { at }))).status).toBe(204);
    expect((await send(signedHint({ type: "batch.completed" }, { at }))).status).toBe(204);
    expect(await stored()).toEqual(before);
  });

  test("is not repeated by a replay", async () => {
    const id = await waitingBatch(openaiBatch);
    const before = polls;
    const hint = signedHint(hintOf(id), { at: clock.now() });
    await send(hint);
    await until(() => polls === before + 1);
    await restsAgain();
    clock.move(20_000);
    const rest = await stored();
    expect((await send(hint)).status).toBe(204);
    expect(await stored()).toEqual(rest);
  });

  test("polls at most once in five seconds when many come", async () => {
    const id = await waitingBatch(openaiBatch);
    const before = polls;
    const flood = () =>
      Promise.all(
        Array.from({ length: 20 }, (_, n) => send(signedHint(hintOf(id), { id: `wh_${n}`, at: clock.now() }))),
      );
    await flood();
    await until(() => polls === before + 1);
    await restsAgain();
    const rest = await stored();
    await flood();
    expect(await stored()).toEqual(rest);
    clock.move(6_000);
    await flood();
    await until(() => polls === before + 2);
  });

  test("has a bounded, uncompressed body", async () => {
    const { headers } = signedHint({}, { at: clock.now() });
    const post = (body: string | Uint8Array, more = {}) =>
      fetch(`${gateway.url}/v1/batch-callbacks/main`, { method: "POST", headers: { ...headers, ...more }, body });
    const large = JSON.stringify({ x: "x".repeat(bounds.callbackBodyBytesMax) });
    expect(await errorOf(await post(large))).toMatchObject({ status: 413, code: "request_too_large" });
    const packed = await post(gzipSync(large), { "content-encoding": "gzip" });
    expect(await errorOf(packed)).toMatchObject({ status: 415, code: "unsupported_media_type" });
  });
});
