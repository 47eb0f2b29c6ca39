import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { kindOf, options, parsed } from "../../../test/provider-fixture.ts";
import { bodyOf, draftOf, image, material, stateOf, video } from "../../../test/video-fixture.ts";

describe("Runway", () => {
  test("sends the API version and ratios in pixels", async () => {
    const draft = draftOf("runway", "gen4_turbo", { material: [material("first_frame", image)], ratio: "21:9" });
    await kindOf("runway").authorize(draft, options);
    expect(draft.headers["x-runway-version"]).toBe("2024-11-06");
    expect(draft.url).toEndWith("/v1/image_to_video");
    expect(parsed(draft.body)).toMatchObject({ promptImage: image, ratio: "1584:672" });
    expect(bodyOf("runway", "gen4_turbo", { ratio: "1104:832" })).toMatchObject({ ratio: "1104:832" });
    expect(() => draftOf("runway", "gen4_turbo", { ratio: "1:1", resolution: "1080p" })).toThrow(Failure);
    const both = { material: [material("first_frame", image), material("last_frame", image)] };
    expect(bodyOf("runway", "veo3.1", both)).toMatchObject({
      promptImage: [
        { uri: image, position: "first" },
        { uri: image, position: "last" },
      ],
    });
    const changed = { material: [material("reference", video, "video"), material("reference", image)] };
    expect(bodyOf("runway", "gen4_aleph", changed)).toMatchObject({
      videoUri: video,
      references: [{ type: "image", uri: image }],
    });
  });

  test("reads progress and the reason for a failure", () => {
    expect(stateOf("runway", { status: "RUNNING", progress: 0.42 }).progress).toBe(42);
    const failed = { status: "FAILED", failure: "no", failureCode: "SAFETY.INPUT.TEXT" };
    expect(stateOf("runway", failed).error).toEqual({ code: "SAFETY.INPUT.TEXT", message: "no" });
  });
});
