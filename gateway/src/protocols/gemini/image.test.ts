import { describe, expect, test } from "bun:test";
import { Failure, type ImageTurn } from "#core/index.ts";
import { geminiImageCodec } from "./image-codec.ts";

const encoder = new TextEncoder();
const picture = { mediaType: "image/png", data: "AAAA" };
const turn: ImageTurn = {
  prompt: "a cat",
  count: 1,
  size: null,
  quality: null,
  background: null,
  outputFormat: null,
  images: [],
  mask: null,
  stream: false,
};

function write(more: Partial<ImageTurn>): { readonly body: unknown; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  const bytes = geminiImageCodec.writeImageTurn({ ...turn, ...more }, (what) => warnings.push(what));
  return { body: JSON.parse(new TextDecoder().decode(bytes)), warnings };
}

function failureOf(act: () => unknown): readonly (string | null)[] {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Failure) return [thrown.code, thrown.param, thrown.retry];
    throw thrown;
  }
  throw new Error("did not fail");
}

const read = (response: unknown): ReturnType<typeof geminiImageCodec.readImageAnswer> =>
  geminiImageCodec.readImageAnswer(encoder.encode(JSON.stringify(response)));

describe("requesting a picture from Gemini", () => {
  test("puts pictures to edit before the prompt", () => {
    expect(write({}).body).toEqual({
      contents: [{ role: "user", parts: [{ text: "a cat" }] }],
      generationConfig: { responseModalities: ["TEXT", "IMAGE"] },
    });
    expect(write({ images: [picture, picture] })).toMatchObject({
      body: {
        contents: [
          {
            role: "user",
            parts: [
              { inlineData: { mimeType: "image/png", data: "AAAA" } },
              { inlineData: { mimeType: "image/png", data: "AAAA" } },
              { text: "a cat" },
            ],
          },
        ],
      },
      warnings: [],
    });
  });

  test.each([
    [1024, 1024, { aspectRatio: "1:1" }, 0],
    [1536, 1024, { aspectRatio: "3:2" }, 1],
    [1024, 1536, { aspectRatio: "2:3" }, 1],
    [1792, 1024, { aspectRatio: "16:9" }, 1],
    [2048, 2048, { aspectRatio: "1:1", imageSize: "2K" }, 1],
    [3840, 2160, { aspectRatio: "16:9", imageSize: "2K" }, 1],
    [4096, 4096, { aspectRatio: "1:1", imageSize: "4K" }, 1],
    [100, 900, { aspectRatio: "9:16" }, 1],
  ])("turns %i x %i into %j", (width, height, imageConfig, warned) => {
    const { body, warnings } = write({ size: { width, height } });
    expect(body).toMatchObject({ generationConfig: { imageConfig } });
    expect(warnings).toHaveLength(warned);
  });

  test("warns about quality, transparency and format unless they are the default", () => {
    expect(write({ quality: "high", background: "transparent", outputFormat: "webp" }).warnings).toHaveLength(3);
    expect(write({ quality: "auto", background: "opaque", outputFormat: "png" }).warnings).toEqual([]);
  });

  test("rejects several pictures and masks", () => {
    expect(failureOf(() => write({ count: 2 }))).toEqual(["unsupported_by_model", "n", "other"]);
    expect(failureOf(() => write({ mask: picture }))).toEqual(["unsupported_by_model", "mask", "other"]);
  });
});

describe("reading a picture from Gemini", () => {
  const part = (more: object = {}): object => ({ inlineData: { mimeType: "image/png", data: "AAAA" }, ...more });
  const answer = (parts: readonly object[], rest: object = {}): object => ({
    candidates: [{ content: { parts } }],
    ...rest,
  });

  test("drops text and drafts", () => {
    expect(read(answer([{ text: "Here:" }, part({ thought: true }), part()]))).toEqual({
      images: [picture],
      usage: null,
      revisedPrompt: null,
    });
  });

  test("counts pictures and their tokens", () => {
    const metadata = { promptTokenCount: 5, candidatesTokenCount: 1_295, thoughtsTokenCount: 10 };
    const candidatesTokensDetails = [{ modality: "IMAGE", tokenCount: 1_290 }];
    expect(read(answer([part()], { usageMetadata: { ...metadata, candidatesTokensDetails } })).usage).toMatchObject({
      inputUncached: 5,
      imageOutput: 1_290,
      output: 15,
      reasoning: 10,
      images: 1,
    });
    expect(read(answer([part()], { usageMetadata: metadata })).usage).toMatchObject({
      imageOutput: 1_295,
      output: 10,
      images: 1,
    });
  });

  test.each([
    [{ promptFeedback: { blockReason: "PROHIBITED_CONTENT" } }, ["invalid_request", "prompt", "never"]],
    [{ candidates: [{ finishReason: "IMAGE_SAFETY" }] }, ["invalid_request", "prompt", "never"]],
    [{ candidates: [{ finishReason: "NO_IMAGE" }] }, ["upstream_error", null, "other"]],
    [answer([{ text: "I cannot." }]), ["upstream_error", null, "other"]],
    [{ error: { code: 500, message: "broken" } }, ["upstream_error", null, "other"]],
  ])("throws for %j", (response, expected) => {
    expect(failureOf(() => read(response))).toEqual(expected);
  });
});
