import { describe, expect, test } from "bun:test";
import { noUsage } from "#core/index.ts";
import { leastCpuMs } from "../../../../test/processor-time.ts";
import { imagesWire } from "./index.ts";

const encoder = new TextEncoder();
const read = (value: unknown) =>
  imagesWire.readReply(encoder.encode(typeof value === "string" ? value : JSON.stringify(value)));

describe("image usage", () => {
  test("splits OpenAI's text and picture tokens and counts the pictures", () => {
    const usage = {
      input_tokens: 50,
      input_tokens_details: { text_tokens: 10, image_tokens: 40 },
      output_tokens: 8320,
      total_tokens: 8370,
    };
    const reading = read({ created: 1, data: [{ b64_json: "QUJD" }, { b64_json: "}]" }], usage }).usage;
    expect(reading?.usage).toEqual({ ...noUsage, inputUncached: 10, imageInput: 40, imageOutput: 8320, images: 2 });
    expect(JSON.parse(reading?.raw ?? "")).toEqual(usage);
  });

  test("counts text output and SVG output as text tokens", () => {
    const reply = {
      data: [{ b64_json: "QUJD" }],
      usage: {
        input_tokens: 5,
        input_tokens_details: { text_tokens: 5, image_tokens: 0 },
        output_tokens: 100,
        output_tokens_details: { text_tokens: 30, image_tokens: 70 },
      },
      svg_usage: { model: "m", input_tokens: 7, output_tokens: 11, reasoning_tokens: 4, total_tokens: 18 },
    };
    expect(read(reply).usage?.usage).toEqual({
      ...noUsage,
      inputUncached: 12,
      output: 41,
      reasoning: 4,
      imageOutput: 70,
      images: 1,
    });
  });

  test("does not count Ark's failed pictures, and keeps reported zeros", () => {
    const reply = {
      model: "doubao-seedream",
      data: [{ url: "https://x/1" }, { error: { code: "x", message: "y" } }, { url: "https://x/2", error: null }],
      usage: { generated_images: 2, output_tokens: 0, total_tokens: 0 },
    };
    expect(read(reply).usage?.usage).toEqual({ ...noUsage, images: 2 });
  });

  test("counts the pictures of an answer without usage", () => {
    expect(read({ created: 1, data: [{ url: "https://x/1" }, { url: "https://x/2" }] }).usage).toEqual({
      usage: { ...noUsage, images: 2 },
      raw: "{}",
    });
    expect(read({ created: 1, data: [] }).usage?.usage).toEqual(noUsage);
  });

  test("reads an answer of thirty megabytes quickly", () => {
    const picture = "A".repeat(15_000_000);
    const bytes = encoder.encode(
      JSON.stringify({ data: [{ b64_json: picture }, { b64_json: picture }], usage: { output_tokens: 3 } }),
    );
    const everyByteMs = leastCpuMs(() => bytes.reduce((sum, byte) => sum + byte, 0), 2);
    const readingMs = leastCpuMs(() => expect(imagesWire.readReply(bytes).usage?.usage.images).toBe(2));
    expect(readingMs).toBeLessThan(everyByteMs / 2);
  });
});

describe("invalid answers", () => {
  test("reads an error with status 200", () => {
    expect(read({ error: { message: "no" } })).toMatchObject({ errorMessage: "no", usage: null });
    expect(read({ error: null, data: [{ url: "u" }] }).errorMessage).toBeNull();
  });

  test.each(["", "[]", '{"data":[', "<html>"])("rejects %j, so that another deployment is tried", (text) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({ code: "upstream_error", retry: "other", unhealthy: true }) as unknown as Error,
    );
  });
});
