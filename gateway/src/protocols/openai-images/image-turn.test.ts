import { describe, expect, test } from "bun:test";
import { Failure } from "#core/index.ts";
import type { FormContent } from "#ports/index.ts";
import { readImageTurn, writeImageJson } from "./index.ts";

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const uri = "data:image/png;base64,QUJD";

const form: FormContent = {
  fields: [
    { name: "model", value: "public" },
    { name: "prompt", value: "42" },
    { name: "n", value: "1" },
    { name: "size", value: "1536x1024" },
    { name: "stream", value: "true" },
    { name: "watermark", value: "false" },
    { name: "seed", value: "-7" },
    { name: "quality", value: "high" },
  ],
  files: [
    { name: "image[]", filename: "a.png", mediaType: "image/png", data: "QUJD" },
    { name: "image[]", filename: "b.jpg", mediaType: "image/jpg", data: "REVG" },
  ],
};
const maskFile = { name: "mask", filename: "m.png", mediaType: "image/png", data: "TUFT" };

function withWarnings<T>(act: (warn: (what: string) => void) => T): { value: T; warnings: string[] } {
  const warnings: string[] = [];
  return { value: act((what) => warnings.push(what)), warnings };
}

function refusal(act: () => unknown): unknown {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof Failure) return [thrown.code, thrown.param, thrown.retry];
    throw thrown;
  }
  return "accepted";
}

const silent = (): void => {};
const json = (body: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(body));

describe("reading an image request", () => {
  test("reads a form and a JSON body the same way", () => {
    const { value, warnings } = withWarnings((warn) =>
      readImageTurn({ ...form, files: [...form.files, maskFile] }, warn),
    );
    expect(value).toEqual({
      prompt: "42",
      count: 1,
      size: { width: 1536, height: 1024 },
      quality: "high",
      background: null,
      outputFormat: null,
      images: [
        { mediaType: "image/png", data: "QUJD" },
        { mediaType: "image/jpeg", data: "REVG" },
      ],
      mask: { mediaType: "image/png", data: "TUFT" },
      stream: true,
    });
    expect(warnings).toEqual([
      "watermark is not supported by the upstream and was dropped",
      "seed is not supported by the upstream and was dropped",
    ]);
    const body = {
      model: "public",
      prompt: "42",
      size: "1536x1024",
      stream: true,
      quality: "high",
      images: [{ image_url: uri }, { image_url: { url: "data:image/jpg;base64,REVG" } }],
      mask: { image_url: "data:image/png;base64,TUFT" },
      user: "u",
      background: null,
    };
    expect(withWarnings((warn) => readImageTurn(bytes(body), warn))).toEqual({ value, warnings: [] });
  });

  test("warns about settings that the upstream ignores", () => {
    const body = { prompt: "p", size: "2K", response_format: "url", "x y\n": 1 };
    expect(withWarnings((warn) => readImageTurn(bytes(body), warn)).warnings).toEqual([
      "(unnamed) is not supported by the upstream and was dropped",
      "pictures are returned in the answer, not as URLs",
      "size is not supported by the upstream and was dropped",
    ]);
  });

  test.each([
    [{ prompt: "" }, ["missing_required_parameter", "prompt", "never"]],
    [{ prompt: "p", n: 0 }, ["invalid_request", "n", "never"]],
    [{ prompt: "p", image: "https://x/a.png" }, ["unsupported_by_model", "image", "other"]],
    [{ prompt: "p", images: [{ file_id: "f" }] }, ["unsupported_by_model", "image", "other"]],
    [{ prompt: "p", image: "data:text/plain,x" }, ["invalid_request", "image", "never"]],
    [{ prompt: "p", images: [{}] }, ["invalid_request", "image", "never"]],
  ])("rejects %j as %j", (body, expected) => {
    expect(refusal(() => readImageTurn(bytes(body), silent))).toEqual(expected);
  });

  test("rejects a file of an unknown picture format", () => {
    const files = [{ name: "image", filename: "a", mediaType: null, data: "QUJD" }];
    expect(refusal(() => readImageTurn({ ...form, files }, silent))).toEqual(["invalid_request", "image", "never"]);
  });
});

describe("writing an edit for vendors that expect URLs in `image`", () => {
  test("turns a form into JSON with data URIs and typed fields", () => {
    const { value, warnings } = withWarnings((warn) => writeImageJson(form, "seedream", warn));
    expect(json(value)).toEqual({
      model: "seedream",
      prompt: "42",
      size: "1536x1024",
      stream: true,
      watermark: false,
      seed: -7,
      image: [uri, "data:image/jpg;base64,REVG"],
    });
    expect(warnings).toEqual(["quality is not supported by the upstream and was dropped"]);
  });

  test("keeps URLs and the vendor's own fields, and drops `auto`", () => {
    const body = {
      model: "public",
      prompt: "p",
      images: [{ image_url: "https://x/a.png" }],
      size: "auto",
      quality: "auto",
      output_format: "webp",
      n: 4,
      sequential_image_generation: "auto",
      sequential_image_generation_options: { max_images: 4 },
    };
    const { value, warnings } = withWarnings((warn) => writeImageJson(bytes(body), "seedream", warn));
    expect(json(value)).toEqual({
      model: "seedream",
      prompt: "p",
      image: "https://x/a.png",
      sequential_image_generation: "auto",
      sequential_image_generation_options: { max_images: 4 },
    });
    expect(warnings).toEqual(["output_format is not supported by the upstream and was dropped"]);
  });

  test("rejects a mask and several pictures, so that another upstream is tried", () => {
    const masked = { ...form, files: [...form.files, maskFile] };
    expect(refusal(() => writeImageJson(masked, "m", silent))).toEqual(["unsupported_by_model", "mask", "other"]);
    expect(refusal(() => writeImageJson(bytes({ prompt: "p", n: 2 }), "m", silent))).toEqual([
      "unsupported_by_model",
      "n",
      "other",
    ]);
  });
});
