import { describe, expect, test } from "bun:test";
import { Failure, noUsage } from "#core/index.ts";
import { kindOf, now, parsed } from "../../../test/provider-fixture.ts";
import { adapterOf, answerOf, bodyOf, draftOf, image, material, stateOf, video } from "../../../test/video-fixture.ts";

describe("Wan on DashScope", () => {
  test("creates asynchronous tasks with pictures in the fields of each model", () => {
    const draft = draftOf("dashscope", "wan2.5-i2v-preview", {
      material: [material("first_frame", image), material("reference", "https://x.example/a.mp3", "audio")],
      resolution: "720p",
      vendorFields: { negative_prompt: "rain", shot_type: "multi", parameters: { prompt_extend: false } },
    });
    expect(draft.headers["x-dashscope-async"]).toBe("enable");
    expect(parsed(draft.body)).toEqual({
      model: "wan2.5-i2v-preview",
      input: {
        prompt: "a paper boat",
        img_url: image,
        audio_url: "https://x.example/a.mp3",
        negative_prompt: "rain",
      },
      parameters: { resolution: "720P", shot_type: "multi", prompt_extend: false },
    });
    const both = { material: [material("first_frame", image), material("last_frame", image)] };
    const frames = draftOf("dashscope", "wan2.2-kf2v-flash", both);
    expect(frames.url).toEndWith("/services/aigc/image2video/video-synthesis");
    expect(parsed(frames.body)).toMatchObject({ input: { first_frame_url: image, last_frame_url: image } });
    expect(bodyOf("dashscope", "wan2.7-i2v", { ...both, ratio: "adaptive" })).toMatchObject({
      input: { media: [{ type: "first_frame" }, { type: "last_frame" }] },
    });
    expect(bodyOf("dashscope", "wan2.7-t2v", { ratio: "4:3", resolution: "1080p" })).toMatchObject({
      parameters: { ratio: "4:3", resolution: "1080P" },
    });
  });

  test("rejects unsupported ratios, and reads billed seconds", () => {
    expect(() => draftOf("dashscope", "wan2.5-t2v-preview", { ratio: "21:9" })).toThrow(Failure);
    expect(() => draftOf("dashscope", "wan2.5-t2v-preview", { resolution: "4k" })).toThrow(Failure);
    const done = { output: { task_status: "SUCCEEDED", video_url: video }, usage: { video_duration: 5, SR: 720 } };
    expect(stateOf("dashscope", done)).toMatchObject({
      usage: { ...noUsage, videoSeconds: 5 },
      rawUsage: '{"video_duration":5,"SR":720}',
    });
  });

  test("classifies DashScope's error codes and hides account errors from callers", () => {
    const refuse = (code: string, status = 400): Failure =>
      kindOf("dashscope").classify({
        status,
        headers: new Headers(),
        body: answerOf({ code, message: "m", request_id: "r" }).body,
        now,
      });
    expect(refuse("Arrearage")).toMatchObject({ retry: "other", unhealthy: true, upstream: undefined });
    expect(refuse("InvalidApiKey", 401).upstream).toBeUndefined();
    expect(refuse("InvalidParameter")).toMatchObject({ retry: "never", upstream: { status: 400 } });
    expect(refuse("Throttling.RateQuota", 429).retry).toBe("same");
    const created = () => adapterOf("dashscope").readCreated(answerOf({ code: "InvalidParameter", message: "m" }));
    expect(created).toThrow(expect.objectContaining({ code: "upstream_error", retry: "never", arrival: "refused" }));
    const broken = () => adapterOf("dashscope").readCreated(answerOf({ code: "InternalError.Algo", message: "m" }));
    expect(broken).toThrow(expect.objectContaining({ arrival: "unknown" }));
  });
});
