import { describe, expect, test } from "bun:test";
import { Failure, type VideoTurn } from "#core/index.ts";
import { kindOf, options, parsed, providerOf, secretText } from "../../../test/provider-fixture.ts";
import { adapterOf, answerOf, inputOf, material, textOfBody, videoSettings } from "../../../test/video-fixture.ts";
import { vendors } from "../../../test/video-vendors.ts";
import { providerKinds } from "../kinds.ts";
import type { VideoState } from "../video-adapter.ts";

const able = providerKinds.filter((kind) => kind.video !== undefined).map((kind) => kind.id);

test("has test data for every provider type with videos", () => {
  expect(Object.keys(vendors).sort()).toEqual([...able].sort());
});

describe.each(Object.entries(vendors))("videos by %s", (id, vendor) => {
  const adapter = adapterOf(id);
  const provider = providerOf(id, { settings: videoSettings });
  const create = (changes: Partial<VideoTurn> = {}) => adapter.create(inputOf(id, vendor.model, changes));
  const poll = (body: unknown): VideoState => adapter.readState(answerOf(body), provider);
  const fullTurn = { ratio: "16:9", durationSeconds: vendor.seconds, resolution: vendor.resolution };
  const takesSeed = adapter.capabilities(vendor.model).seed !== false;

  test("sends the settings in the vendor's fields", () => {
    const draft = create({ ...fullTurn, seed: takesSeed ? 11 : null });
    expect(draft.method).toBe("POST");
    expect(draft.url.startsWith(vendor.createUrl)).toBe(true);
    if (typeof vendor.body === "object") expect(parsed(draft.body)).toEqual(vendor.body);
    else for (const field of vendor.body(draft)) expect(textOfBody(draft.body)).toContain(field);
  });

  test("sends no default settings with a prompt", () => {
    const text = textOfBody(create().body);
    expect(text).toContain("a paper boat");
    for (const word of ["null", "undefined", "16:9", "1280", "720", "duration", 'seconds"', '"seed"', "watermark"]) {
      expect(text).not.toContain(word);
    }
  });

  test("rejects a seed that would be ignored, and treats a negative one as random", () => {
    const negative = textOfBody(create({ seed: -1 }).body);
    expect(/"seed":(?!-1\b)/.test(negative)).toBe(false);
    if (takesSeed) expect(textOfBody(create({ seed: 4242 }).body)).toContain("4242");
    else expect(failureOf(() => create({ seed: 4242 }))).toMatchObject(refusal("seed"));
  });

  test("rejects sound and watermarks that the model does not support", () => {
    const { audio } = adapter.capabilities(vendor.model);
    const sound = failureOf(() => create({ audio: true }));
    if (audio === false) expect(sound).toMatchObject(refusal("audio"));
    else expect(sound).toBeNull();
    for (const watermark of [true, false]) {
      const mark = failureOf(() => create({ watermark }));
      if (mark !== null) expect(mark).toMatchObject(refusal("watermark"));
    }
    expect(failureOf(() => create({ watermark: false }))).toBeNull();
  });

  test("forwards vendor-specific fields, even if a common field exists", () => {
    const draft = create({ vendorFields: { negative_prompt: "rain", ...vendor.own } });
    const text = textOfBody(draft.body);
    expect(text).toContain("negative_prompt");
    expect(text).toContain("rain");
    for (const value of Object.values(vendor.own)) expect(text).toContain(String(value));
  });

  test("sends a first frame, or rejects it if unsupported", () => {
    const carried = failureOf(() => {
      const text = textOfBody(create({ material: [material("first_frame")] }).body);
      expect(text.includes("iVBORw0KGgo=") || text.includes("input_reference")).toBe(true);
    });
    if (carried !== null) expect(carried.code).toBe("unsupported_by_model");
    expect(adapter.capabilities(vendor.model).firstFrame === false).toBe(carried !== null);
  });

  test("rejects library references and content arrays unless supported", () => {
    const held = material("first_frame", "asset://asset-1");
    const content = [{ type: "text", text: "x" }];
    if (id === "ark" || id === "byteplus" || id === "demo") {
      expect(textOfBody(create({ material: [held], content }).body)).toContain("asset://asset-1");
      return;
    }
    expect(failureOf(() => create({ material: [held] }))).toMatchObject(refusal("image"));
    expect(failureOf(() => create({ content }))).toMatchObject(refusal("content"));
  });

  test("reads the vendor's id of a new task", () => {
    const sent = create();
    const { upstreamId } = adapter.readCreated(answerOf(vendor.created), sent);
    expect(upstreamId).toBe(vendor.upstreamId);
    const poll = adapter.poll(provider, vendor.model, upstreamId);
    expect(`${poll.method} ${poll.url}`).toBe(vendor.poll);
  });

  test.each([...vendor.states])("reads %j as %s", (body, state) => {
    const seen = poll(body);
    expect(seen.state).toBe(state);
    if (state === "succeeded") expect(seen.videoUrl).not.toBeNull();
    else expect(seen.videoUrl).toBeNull();
    expect(seen.error !== null).toBe(state === "failed");
    if (seen.usage !== null) expect(state).toBe("succeeded");
  });

  test("does not end a task with an unknown status", () => {
    for (const word of ["paused", "constructor", "__proto__", "", "SUCCEEDED?", "error"]) {
      const { state } = poll(vendor.withWord(word));
      expect(state === null || (vendor.wordless && state === "running")).toBe(true);
    }
  });

  test("does not end a task after an invalid answer", () => {
    for (const body of [...garbage, ...vendor.halves]) {
      expect(failureOf(() => poll(body))).toMatchObject({ code: "upstream_error" });
    }
  });

  test("reports an unknown outcome for an answer without a task id", () => {
    for (const body of [...garbage, vendor.createdAs("../../admin"), vendor.createdAs("a?b"), vendor.createdAs("")]) {
      const failure = failureOf(() => adapter.readCreated(answerOf(body), create()));
      expect(failure).toMatchObject({ code: "upstream_truncated", retry: "never" });
    }
  });

  test("sends the account's credential only in headers to the account's host", async () => {
    const done = vendor.states.map(([body]) => poll(body));
    const url = done.find((seen) => seen.videoUrl !== null)?.videoUrl ?? null;
    const drafts = [
      create(),
      adapter.poll(provider, vendor.model, vendor.upstreamId),
      adapter.cancel?.(provider, vendor.model, vendor.upstreamId),
      adapter.list?.(provider),
      url === null ? null : adapter.content?.(provider, url),
      ...done.map((seen) => seen.next),
    ].filter((draft) => draft != null);
    for (const draft of drafts) {
      await kindOf(id).authorize(draft, options);
      expect(Object.values(draft.headers).join()).toContain(secretText);
      expect(draft.url).not.toContain(secretText);
      expect(textOfBody(draft.body)).not.toContain(secretText);
      const hosts = [new URL(provider.baseUrl).host, ...(id === "vertex" ? ["storage.googleapis.com"] : [])];
      expect(hosts).toContain(new URL(draft.url).host);
    }
    expect(
      failureOf(() => adapter.content?.(provider, "https://thief.example/v1/x.mp4"))?.code ?? "upstream_error",
    ).toBe("upstream_error");
  });

  test("keeps a task's id inside its path segment", () => {
    for (const name of ["a/b", "a#b"]) {
      if (vendor.named) continue;
      const draft = adapter.poll(provider, vendor.model, name);
      expect(draft.url).toContain(encodeURIComponent(name));
    }
  });

  test("reports a task as gone only for the vendor's own error", () => {
    const gone = (status: number, body: unknown) => adapter.reportsGone?.(answerOf(body, status)) ?? false;
    for (const text of ["", "<html>not found</html>", "{}", "[]"]) expect(gone(404, text)).toBe(false);
    for (const status of [400, 401, 403, 429, 500]) expect(gone(status, vendor.gone ?? {})).toBe(false);
    expect(gone(404, vendor.gone ?? {})).toBe(vendor.gone !== null);
  });

  test("lists capabilities of known models, and none of unknown ones", () => {
    const { ratios, resolutions, durations } = adapter.capabilities(vendor.model);
    expect(ratios.every((ratio) => /^(\d+:\d+|adaptive|keep_ratio)$/.test(ratio))).toBe(true);
    expect(resolutions.every((resolution) => /^(\d+p|\dk)$/.test(resolution))).toBe(true);
    expect(durations.every(Number.isSafeInteger)).toBe(true);
    const unknown = adapter.capabilities("ep-20260101-abcde");
    expect([...unknown.ratios, ...unknown.resolutions, ...unknown.durations]).toEqual([]);
  });
});

const garbage: readonly string[] = [
  "",
  "<html>",
  "[]",
  "null",
  '"x"',
  "{}",
  '{"status":5}',
  '{"data":null}',
  '{"id":{}}',
];

function refusal(param: string): object {
  return { code: "unsupported_by_model", param, retry: "other" };
}

function failureOf(act: () => unknown): Failure | null {
  try {
    act();
    return null;
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown;
    throw thrown;
  }
}
