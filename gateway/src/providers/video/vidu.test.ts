import { describe, expect, test } from "bun:test";
import { Failure, type VideoTurn } from "#core/index.ts";
import { kindOf, now, options, secretText } from "../../../test/provider-fixture.ts";
import { adapterOf, answerOf, draftOf, material } from "../../../test/video-fixture.ts";

describe("Vidu", () => {
  test("uses a path for each type of material, and reads back our task id", () => {
    const path = (changes: Partial<VideoTurn>): string => new URL(draftOf("vidu", "viduq2", changes).url).pathname;
    const [first, last, reference] = [material("first_frame"), material("last_frame"), material("reference")];
    expect(path({ material: [first] })).toBe("/ent/v2/img2video");
    expect(path({ material: [first, last] })).toBe("/ent/v2/start-end2video");
    expect(path({ material: [reference, reference] })).toBe("/ent/v2/reference2video");
    expect(() => path({ material: [last] })).toThrow(Failure);
    expect(() => path({ material: [first, reference] })).toThrow(Failure);
    const tasks = [{ id: "800", model: "viduq2", payload: "vt_1", created_at: "2026-01-02T03:04:05Z" }];
    expect(adapterOf("vidu").readList?.(answerOf({ tasks }))).toEqual([
      { upstreamId: "800", taskId: "vt_1", upstreamModel: "viduq2", prompt: null, createdAt: now },
    ]);
  });

  test("sends the key as a Token", async () => {
    const draft = draftOf("vidu", "viduq2");
    await kindOf("vidu").authorize(draft, options);
    expect(draft.headers["authorization"]).toBe(`Token ${secretText}`);
  });
});
