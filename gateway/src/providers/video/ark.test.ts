import { describe, expect, test } from "bun:test";
import { noUsage } from "#core/index.ts";
import { bytes, kindOf, parsed, providerOf } from "../../../test/provider-fixture.ts";
import {
  adapterOf,
  answerOf,
  bodyOf,
  image,
  inputOf,
  material,
  picture,
  stateOf,
  video,
} from "../../../test/video-fixture.ts";

describe("Seedance on Ark", () => {
  const pro = "doubao-seedance-2-0-260128";

  test("sends material with roles after the prompt", () => {
    const turn = {
      material: [
        material("first_frame", image),
        material("last_frame"),
        material("reference", "Asset://asset-1"),
        material("reference", "https://x.example/v.mp4", "video"),
        material("reference", "https://x.example/a.mp3", "audio"),
      ],
      wantsLastFrame: true,
    };
    expect(bodyOf("ark", pro, turn)).toEqual({
      model: pro,
      content: [
        { type: "text", text: "a paper boat" },
        { type: "image_url", image_url: { url: image }, role: "first_frame" },
        { type: "image_url", image_url: { url: picture }, role: "last_frame" },
        { type: "image_url", image_url: { url: "asset://asset-1" }, role: "reference_image" },
        { type: "video_url", video_url: { url: "https://x.example/v.mp4" }, role: "reference_video" },
        { type: "audio_url", audio_url: { url: "https://x.example/a.mp3" }, role: "reference_audio" },
      ],
      return_last_frame: true,
    });
  });

  test("forwards the caller's content array, with the prompt only if it has no text", () => {
    const draft = { type: "draft_task", draft_task: { id: "cgt-1" } };
    const text = { type: "text", text: "mine" };
    expect(bodyOf("ark", pro, { content: [draft, text] })).toMatchObject({ content: [draft, text] });
    expect(bodyOf("ark", pro, { content: [draft] })).toMatchObject({
      content: [{ type: "text", text: "a paper boat" }, draft],
    });
  });

  test("sends watermark and callback, and audio only to models with sound", () => {
    const adapter = adapterOf("byteplus");
    const input = {
      ...inputOf("byteplus", pro, { audio: false, watermark: false }),
      callbackUrl: "https://us.example/cb",
    };
    expect(parsed(adapter.create(input).body)).toMatchObject({
      generate_audio: false,
      watermark: false,
      callback_url: "https://us.example/cb",
    });
    expect(bodyOf("ark", "doubao-seedance-1-0-pro-250528", { audio: false })).not.toHaveProperty("generate_audio");
    expect(bodyOf("ark", "ep-20260101-abcde", { audio: true })).toMatchObject({ generate_audio: true });
  });

  test("reads tokens and seconds, and lets links expire after a day", () => {
    const task = {
      id: "cgt-1",
      status: "succeeded",
      content: { video_url: video, last_frame_url: image },
      usage: { completion_tokens: 108_900, total_tokens: 108_900 },
      updated_at: 1_783_475_364,
      duration: 5,
    };
    expect(stateOf("ark", task)).toMatchObject({
      lastFrameUrl: image,
      expiresAt: 1_783_475_364 + 86_400,
      usage: { ...noUsage, output: 108_900, videoSeconds: 5 },
      rawUsage: '{"completion_tokens":108900,"total_tokens":108900}',
    });
    const searched = { ...task, usage: { completion_tokens: 9, tool_usage: { web_search: 2 } } };
    expect(stateOf("ark", searched).usage).toMatchObject({ output: 9, webSearches: 2 });
    const byFrames = { ...task, duration: undefined, frames: 121, framespersecond: 24 };
    expect(stateOf("ark", byFrames).usage?.videoSeconds).toBe(5);
    expect(stateOf("ark", { ...task, status: "running", content: {}, usage: {} }).usage).toBeNull();
  });

  test("lists tasks with prompt and time, and with our id if the account marks tasks", () => {
    const adapter = adapterOf("ark");
    const marked = providerOf("ark", { settings: { mark_tasks: true } });
    const draft = adapter.create({ ...inputOf("ark", pro), provider: marked });
    expect(parsed(draft.body)).toMatchObject({ safety_identifier: "vt_1" });
    expect(bodyOf("ark", pro)).not.toHaveProperty("safety_identifier");
    const own = { ...inputOf("ark", pro, { vendorFields: { safety_identifier: "user-7" } }), provider: marked };
    expect(parsed(adapter.create(own).body)).toMatchObject({ safety_identifier: "user-7" });
    const items = [
      { id: "cgt-1", model: pro, created_at: 1_783_475_210, safety_identifier: "vt_1" },
      { id: "cgt-2", model: pro, created_at: 1_783_475_211, safety_identifier: "user-7", failure_reason: null },
      { no: "id" },
    ];
    expect(adapter.readList?.(answerOf({ total: 3, items }))).toEqual([
      { upstreamId: "cgt-1", taskId: "vt_1", upstreamModel: pro, prompt: null, createdAt: 1_783_475_210_000 },
      { upstreamId: "cgt-2", taskId: null, upstreamModel: pro, prompt: null, createdAt: 1_783_475_211_000 },
    ]);
    expect(adapter.cancel?.(marked, pro, "cgt-1")).toMatchObject({ method: "DELETE" });
    expect(adapter.readCallback?.(bytes('{"id":"cgt-1","status":"running"}'))).toEqual({ upstreamId: "cgt-1" });
    expect(adapter.readCallback?.(bytes("{"))).toBeNull();
  });

  test("does not report a task as gone for a 404 about the model or account", () => {
    const body = answerOf({ error: { code: "InvalidEndpointOrModel.NotFound", message: "m" } }).body;
    expect(adapterOf("ark").reportsGone?.({ status: 404, headers: new Headers(), body })).toBe(false);
    const refused = { status: 404, headers: new Headers(), body, now: 0 };
    expect(kindOf("ark").classify(refused)).toMatchObject({ retry: "other" });
  });
});
