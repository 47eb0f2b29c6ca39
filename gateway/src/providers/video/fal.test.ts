import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { bytes, now, providerOf } from "../../../test/provider-fixture.ts";
import { adapterOf, answerOf, bodyOf, image, inputOf, material, stateOf, video } from "../../../test/video-fixture.ts";
import type { VideoState } from "../video-adapter.ts";

describe("fal", () => {
  const model = "fal-ai/kling-video/v2.1/pro/image-to-video";
  const place = "https://queue.fal.run/fal-ai/kling-video/requests/f-1";
  const completed = { status: "COMPLETED", response_url: place };

  test("polls below the owner and app of the model, and cancels with PUT", () => {
    const [adapter, provider] = [adapterOf("fal"), providerOf("fal")];
    expect(adapter.poll(provider, model, "f-1").url).toBe(`${place}/status`);
    expect(adapter.cancel?.(provider, model, "f-1")).toMatchObject({ method: "PUT", url: `${place}/cancel` });
    const frames = { material: [material("first_frame", image), material("last_frame", image)] };
    expect(bodyOf("fal", model, frames)).toMatchObject({ image_url: image, tail_image_url: image });
    expect(bodyOf("fal", "fal-ai/veo3", { durationSeconds: 8 })).toMatchObject({ duration: "8s" });
    const hooked = adapter.create({ ...inputOf("fal", model), callbackUrl: "https://us.example/cb?t=1" });
    expect(hooked.url).toEndWith(`${model}?fal_webhook=https%3A%2F%2Fus.example%2Fcb%3Ft%3D1`);
    expect(adapter.readCallback?.(bytes('{"request_id":"f-1","status":"OK"}'))).toEqual({ upstreamId: "f-1" });
    expect(() => adapter.poll(provider, "one-name", "f-1")).toThrow(Failure);
  });

  test("reads success or failure from the result of a completed task", () => {
    const before = stateOf("fal", completed);
    expect(before.next).toMatchObject({ method: "GET", url: place });
    const { readNext, readNextRefusal } = adapterOf("fal");
    const result = answerOf({ video: { url: video, content_type: "video/mp4" }, seed: 1 });
    expect(readNext?.(result, before)).toMatchObject({ state: "succeeded", videoUrl: video, next: null });
    const refused = (status: number, body: unknown): VideoState | null | undefined =>
      readNextRefusal?.({ status, headers: new Headers(), body: answerOf(body).body, now }, before);
    const detail = [{ loc: ["body", "image_url"], msg: "could not be read", type: "image_load_error" }];
    expect(refused(422, { detail })).toMatchObject({
      state: "failed",
      error: { code: "image_load_error", message: "could not be read" },
    });
    expect(refused(500, { detail: "Internal Server Error" })).toMatchObject({ state: "failed" });
    for (const status of [401, 403, 404, 429, 502, 503]) expect(refused(status, { detail })).toBeNull();
    expect(refused(422, "<html>")).toBeNull();
  });

  test("fetches results only from the account's base URL", () => {
    const proxied = providerOf("fal", { baseUrl: "https://proxy.example/fal" });
    const { next } = adapterOf("fal").readState(answerOf(completed), proxied);
    expect(next?.url).toBe("https://proxy.example/fal/fal-ai/kling-video/requests/f-1");
  });
});
