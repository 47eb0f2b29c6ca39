import { describe, expect, test } from "bun:test";
import { createSimulator, type Script } from "@sluice/simulator";
import type { Provider, VideoTurn } from "#core/index.ts";
import { type GoodAnswer, type OutboundDraft, providerKinds, type VideoState } from "#providers/index.ts";
import { kindOf, providerOf, secretText } from "../provider-fixture.ts";
import { adapterOf, inputOf, picture, videoSettings } from "../video-fixture.ts";
import { vendors } from "../video-vendors.ts";

/**
 * The simulator plays every vendor and shares no code with the gateway. It refuses what the vendors' references do not
 * allow.
 */
const simulator = createSimulator({ klingKeys: { AK1: secretText } });
const done = { queued_ms: 0, running_ms: 0 } satisfies Script;
/** Azure uses OpenAI's adapter with another path and another header, which the simulated OpenAI does not accept. */
const videoKinds = providerKinds
  .filter((kind) => kind.video !== undefined && kind.id !== "azure-openai")
  .map(({ id }) => id);
const accounts: Readonly<Record<string, Partial<Provider>>> = {
  kling: { settings: { access_key: "AK1" } },
};

async function send(kind: string, draft: OutboundDraft, script?: Script): Promise<GoodAnswer> {
  await kindOf(kind).authorize(draft, { now: Date.now(), token: null });
  const { method, headers, body } = draft;
  const url = draft.url.replace(/^[a-z]+:/, "http:");
  const scriptHeader = script === undefined ? {} : { "x-sim-script": JSON.stringify(script) };
  const answer = await simulator.fetch(new Request(url, { method, headers: { ...headers, ...scriptHeader }, body }));
  return { status: answer.status, headers: answer.headers, body: new Uint8Array(await answer.arrayBuffer()) };
}

describe.each(videoKinds)("a video from %s", (id) => {
  const adapter = adapterOf(id);
  const vendor = vendors[id];
  if (vendor === undefined) throw new Error(`no vendor ${id}`);
  const { model } = vendor;
  const provider = providerOf(id, { settings: videoSettings, ...accounts[id] });

  async function create(turn: Partial<VideoTurn>, script: Script, as = model): Promise<string> {
    const sent = adapter.create({ ...inputOf(id, as, turn), provider });
    const answer = await send(id, sent, script);
    expect([answer.status, answer.status < 300 ? "" : new TextDecoder().decode(answer.body)]).toEqual([
      answer.status,
      "",
    ]);
    return adapter.readCreated(answer, sent).upstreamId;
  }

  async function readState(upstreamId: string): Promise<VideoState> {
    const answer = await send(id, adapter.poll(provider, model, upstreamId));
    expect(answer.status).toBe(200);
    const state = adapter.readState(answer, provider);
    if (state.next === null) return state;
    const more = await send(id, state.next);
    if (more.status >= 300) return adapter.readNextRefusal?.({ ...more, now: Date.now() }, state) ?? state;
    return adapter.readNext?.(more, state) ?? state;
  }

  const full: Partial<VideoTurn> = {
    ratio: "16:9",
    durationSeconds: vendor.seconds,
    resolution: vendor.resolution,
    seed: adapter.capabilities(model).seed === false ? -1 : 11,
  };

  test("is accepted with every setting, created, and fetched with or without the credential", async () => {
    const finalState = await readState(await create(full, done));
    expect(finalState.state).toBe("succeeded");
    const url = finalState.videoUrl ?? "";
    if (adapter.content === undefined || url.startsWith("gs://")) {
      expect(url).toMatch(/^(https?|gs):\/\//);
      return;
    }
    const content = await send(id, adapter.content(provider, url));
    expect(content.status).toBeLessThan(400);
  });

  test("keeps its state until the vendor changes it, and fails with a reason", async () => {
    const queued = await readState(await create({}, { queued_ms: 600_000 }));
    expect(["queued", "running"]).toContain(queued.state ?? "none");
    expect((await readState(await create({}, { queued_ms: 0, running_ms: 600_000 }))).state).toBe("running");
    const failed = await readState(await create({}, { ...done, ends: "failed" }));
    expect(failed.state).toBe("failed");
    expect(failed.error?.message.length ?? 0).toBeGreaterThan(0);
  });

  test("starts with a picture where the vendor accepts one", async () => {
    const as = id === "dashscope" ? "wan2.5-i2v-preview" : model;
    const material = [{ role: "first_frame", type: "image", url: picture } as const];
    expect((await readState(await create({ material }, done, as))).state).toBe("succeeded");
  });

  test("is cancelled while it is queued, where the vendor allows it", async () => {
    if (adapter.cancel === undefined) return;
    const upstreamId = await create({}, { queued_ms: 600_000 });
    const draft = adapter.cancel(provider, model, upstreamId);
    if (draft === null) return;
    expect((await send(id, draft)).status).toBeLessThan(300);
    const answer = await send(id, adapter.poll(provider, model, upstreamId));
    if (answer.status < 300) expect(["cancelled", "failed"]).toContain((await readState(upstreamId)).state ?? "none");
    else expect(adapter.reportsGone?.(answer)).toBe(true);
  });

  test("is found in the vendor's list when the answer to its creation was lost", async () => {
    if (adapter.list === undefined) return;
    const prompt = "the lost answer";
    const upstreamId = await create({ prompt }, done);
    const answer = await send(id, adapter.list(provider));
    expect(answer.status).toBe(200);
    const found = adapter.readList?.(answer).find((task) => task.upstreamId === upstreamId);
    // By the gateway's id, or by the request and its time.
    if (found?.taskId !== "vt_1") expect(found?.createdAt ?? 0).toBeGreaterThan(Date.now() - 60_000);
  });

  test("does not count as ended when it never existed", async () => {
    const answer = await send(id, adapter.poll(provider, model, vendor.upstreamId.replace(/[\w-]+$/, "no-such-task")));
    if (answer.status >= 300) {
      expect(kindOf(id).classify({ ...answer, now: Date.now() }).code).toBe("upstream_error");
      return;
    }
    // Some vendors report this as a state, others with a code inside a successful answer.
    const read = (): string | null => adapter.readState(answer, provider).state;
    if (id === "dashscope") expect([read(), adapter.reportsGone?.(answer)]).toEqual([null, true]);
    else expect(read).toThrow(expect.objectContaining({ code: "upstream_error" }));
  });
});
