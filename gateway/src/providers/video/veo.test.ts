import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import { kindOf, providerOf } from "../../../test/provider-fixture.ts";
import { adapterOf, bodyOf, draftOf, image, inputOf, material, stateOf } from "../../../test/video-fixture.ts";

describe("Veo", () => {
  const model = "veo-3.1-generate-preview";
  const name = `models/${model}/operations/abc`;

  test("sends pictures as bytes and rejects URLs", () => {
    expect(adapterOf("gemini").materialAs).toBe("data");
    const turn = { material: [material("first_frame"), material("last_frame"), material("reference")] };
    const bytesOfPicture = { bytesBase64Encoded: "iVBORw0KGgo=", mimeType: "image/png" };
    expect(bodyOf("gemini", model, turn)).toEqual({
      instances: [
        {
          prompt: "a paper boat",
          image: bytesOfPicture,
          lastFrame: bytesOfPicture,
          referenceImages: [{ image: bytesOfPicture, referenceType: "asset" }],
        },
      ],
      parameters: {},
    });
    expect(() => draftOf("gemini", model, { material: [material("first_frame", image)] })).toThrow(Failure);
  });

  test("reports a failure if every video was filtered", () => {
    const held = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["It showed a child."] };
    expect(stateOf("gemini", { name, done: true, response: { generateVideoResponse: held } })).toMatchObject({
      state: "failed",
      error: { code: "content_filtered", message: "It showed a child." },
    });
  });

  test("sends the key only to the account's base URL", () => {
    const proxied = providerOf("gemini", { baseUrl: "https://proxy.example/google/v1beta" });
    const uri = "https://generativelanguage.googleapis.com/v1beta/files/x:download?alt=media";
    const content = adapterOf("gemini").content;
    expect(content?.(proxied, uri).url).toBe("https://proxy.example/google/v1beta/files/x:download?alt=media");
    expect(content?.(providerOf("gemini"), uri).url).toBe(uri);
    expect(() => content?.(proxied, "https://thief.example/x")).toThrow(Failure);
  });

  test("sends seed and audio on Vertex, and requires a bucket there", () => {
    expect(bodyOf("vertex", model, { seed: 7, audio: false })).toMatchObject({
      parameters: { seed: 7, generateAudio: false, storageUri: "gs://bucket/videos" },
    });
    const bare = { ...inputOf("vertex", model), provider: providerOf("vertex") };
    expect(() => adapterOf("vertex").create(bare)).toThrow("storage_uri");
    expect(() => draftOf("gemini", model, { audio: false })).toThrow(Failure);
    const wrong = providerOf("vertex", { settings: { project: "p", storage_uri: "https://bucket" } });
    expect(kindOf("vertex").checkSettings?.(wrong)).toContain("storage_uri");
    expect(adapterOf("vertex").content?.(providerOf("vertex"), "gs://b/a b/c.mp4").url).toBe(
      "https://storage.googleapis.com/storage/v1/b/b/o/a%20b%2Fc.mp4?alt=media",
    );
  });
});
