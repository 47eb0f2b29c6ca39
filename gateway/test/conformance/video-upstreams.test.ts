import { describe, expect, test } from "bun:test";
import { createSimulator, type Script } from "@sluice/simulator";
import type { Provider, VideoTurn } from "#core/index.ts";
import { type GoodAnswer, type OutboundDraft, providerKinds, type VideoState } from "#providers/index.ts";
import { kindOf, providerOf, secretText } from "../provider-ground.ts";
import { adapterOf, inputOf, picture, videoSettings } from "../video-ground.ts";
import { vendors } from "../video-vendors.ts";

/** The simulator plays every vendor and shares no code with the gateway: what it refuses, the vendor's reference refuses. */
const simulator = createSimulator({ klingKeys: { AK1: secretText } });
const done = { queued_ms: 0, running_ms: 0 } satisfies Script;
/** Azure's is OpenAI's own adapter at another root with another header, which the simulated OpenAI does not take. */
const able = providerKinds.filter((kind) => kind.video !== undefined && kind.id !== "azure-openai").map(({ id }) => id);
const accounts: Readonly<Record<string, Partial<Provider>>> = {
  kling: { settings: { access_key: "AK1" } },
};

async function send(kind: string, draft: OutboundDraft, script?: Script): Promise<GoodAnswer> {
  await kindOf(kind).authorize(draft, { now: Date.now(), token: null });
  const { method, headers, body } = draft;
  const url = draft.url.replace(/^[a-z]+:/, "http:");
  const told = script === undefined ? {} : { "x-sim-script": JSON.stringify(script) };
  const answer = await simulator.fetch(new Request(url, { method, headers: { ...headers, ...told }, body }));
  return { status: answer.status, headers: answer.headers, body: new Uint8Array(await answer.arrayBuffer()) };
}

describe.each(able)("a video by way of %s", (id) => {
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

  async function look(upstreamId: string): Promise<VideoState> {
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

  test("is accepted with everything that was asked, made, and fetched with or without the credential", async () => {
    const seen = await look(await create(full, done));
    expect(seen.state).toBe("succeeded");
    const url = seen.videoUrl ?? "";
    if (adapter.content === undefined || url.startsWith("gs://")) {
      expect(url).toMatch(/^(https?|gs):\/\//);
      return;
    }
    const content = await send(id, adapter.content(provider, url));
    expect(content.status).toBeLessThan(400);
  });

  test("stays what it is until the vendor says more, and ends as failed with a reason", async () => {
    const queued = await look(await create({}, { queued_ms: 600_000 }));
    expect(["queued", "running"]).toContain(queued.state ?? "none");
    expect((await look(await create({}, { queued_ms: 0, running_ms: 600_000 }))).state).toBe("running");
    const failed = await look(await create({}, { ...done, ends: "failed" }));
    expect(failed.state).toBe("failed");
    expect(failed.error?.message.length ?? 0).toBeGreaterThan(0);
  });

  test("begins with a picture where the vendor takes one", async () => {
    const as = id === "dashscope" ? "wan2.5-i2v-preview" : model;
    const material = [{ role: "first_frame", type: "image", url: picture } as const];
    expect((await look(await create({ material }, done, as))).state).toBe("succeeded");
  });

  test("is taken back while it waits, where the vendor lets it be", async () => {
    if (adapter.cancel === undefined) return;
    const upstreamId = await create({}, { queued_ms: 600_000 });
    const draft = adapter.cancel(provider, model, upstreamId);
    if (draft === null) return;
    expect((await send(id, draft)).status).toBeLessThan(300);
    const answer = await send(id, adapter.poll(provider, model, upstreamId));
    if (answer.status < 300) expect(["cancelled", "failed"]).toContain((await look(upstreamId)).state ?? "none");
    else expect(adapter.reportsGone?.(answer)).toBe(true);
  });

  test("is found in the vendor's list when its answer was lost", async () => {
    if (adapter.list === undefined) return;
    const prompt = "the lost one";
    const upstreamId = await create({ prompt }, done);
    const answer = await send(id, adapter.list(provider));
    expect(answer.status).toBe(200);
    const found = adapter.readList?.(answer).find((task) => task.upstreamId === upstreamId);
    // By our own id, or by what was asked for and when.
    if (found?.taskId !== "vt_1") expect(found?.createdAt ?? 0).toBeGreaterThan(Date.now() - 60_000);
  });

  test("that there never was does not pass for one that ended", async () => {
    const answer = await send(id, adapter.poll(provider, model, vendor.upstreamId.replace(/[\w-]+$/, "no-such-task")));
    if (answer.status >= 300) {
      expect(kindOf(id).classify({ ...answer, now: Date.now() }).code).toBe("upstream_error");
      return;
    }
    // What one vendor says with a state, others say with a code inside a good answer.
    const read = (): string | null => adapter.readState(answer, provider).state;
    if (id === "dashscope") expect([read(), adapter.reportsGone?.(answer)]).toEqual([null, true]);
    else expect(read).toThrow(expect.objectContaining({ code: "upstream_error" }));
  });
});
