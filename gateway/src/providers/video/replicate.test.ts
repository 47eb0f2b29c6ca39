import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { now, parsed } from "../../../test/provider-fixture.ts";
import { adapterOf, answerOf, bodyOf, draftOf, image, material, stateOf, video } from "../../../test/video-fixture.ts";

describe("Replicate", () => {
  const version = "a".repeat(64);

  test("accepts a model name or a version", () => {
    expect(draftOf("replicate", "owner/name").url).toBe("https://api.replicate.com/v1/models/owner/name/predictions");
    for (const model of [version, `owner/name:${version}`]) {
      const draft = draftOf("replicate", model);
      expect(draft.url).toBe("https://api.replicate.com/v1/predictions");
      expect(parsed(draft.body)).toMatchObject({ version, input: { prompt: "a paper boat" } });
    }
    expect(() => draftOf("replicate", "../admin/x")).toThrow(Failure);
    const kling = {
      material: [material("first_frame", image), material("last_frame", image)],
      vendorFields: { stream: false },
    };
    expect(bodyOf("replicate", "kwaivgi/kling-v2.1", kling)).toEqual({
      stream: false,
      input: { prompt: "a paper boat", start_image: image, end_image: image },
    });
  });

  test("reads start and end times, and lets files expire after an hour", () => {
    const done = {
      id: "p1",
      status: "succeeded",
      output: [video],
      started_at: "2026-01-02T03:04:05.000000Z",
      completed_at: "2026-01-02T03:04:05Z",
      metrics: { predict_time: 3.2 },
    };
    expect(stateOf("replicate", done)).toMatchObject({
      startedAt: now,
      expiresAt: now / 1_000 + 3_600,
      rawUsage: '{"predict_time":3.2}',
      usage: null,
    });
    const results = [
      { id: "p1", model: "owner/name", input: { prompt: "a paper boat" }, created_at: done.completed_at },
    ];
    expect(adapterOf("replicate").readList?.(answerOf({ results }))).toEqual([
      { upstreamId: "p1", taskId: null, upstreamModel: "owner/name", prompt: "a paper boat", createdAt: now },
    ]);
  });
});
