import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bounds, Failure, noUsage } from "#core/index.ts";
import { pushCut } from "../../../test/cut-stream.ts";
import { imagesWire } from "./index.ts";
import { ImagesStreamTap } from "./reply.ts";

const encoder = new TextEncoder();

const event = (type: string, rest: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const usage = {
  input_tokens: 50,
  input_tokens_details: { text_tokens: 10, image_tokens: 40 },
  output_tokens: 300,
  total_tokens: 350,
};
const openai = [
  event("image_edit.partial_image", { b64_json: "QUJD", partial_image_index: 0, created_at: 1 }),
  ": ping\n\n",
  event("image_edit.partial_image", { b64_json: 'a"usage":{}\\', partial_image_index: 1, created_at: 1 }),
  event("image_edit.completed", { b64_json: "QUJD".repeat(50), url: null, usage }),
].join("");
const ark = [
  event("image_generation.partial_succeeded", { image_index: 0, url: "https://x/0" }),
  event("image_generation.partial_failed", { image_index: 1, error: { code: "c", message: "m" } }),
  event("image_generation.partial_succeeded", { image_index: 2, b64_json: "QUJD" }),
  event("image_generation.completed", { usage: { generated_images: 2, output_tokens: 32, total_tokens: 32 } }),
  "data: [DONE]\n\n",
].join("");

function listen(text: string, cuts: readonly number[] = []): { tap: ImagesStreamTap; out: string } {
  const tap = new ImagesStreamTap();
  return { tap, out: pushCut(tap, text, cuts) };
}

const facts = (tap: ImagesStreamTap) => ({
  complete: tap.complete(),
  events: tap.events,
  ended: tap.ended,
  usage: tap.usage,
  usageFinal: tap.usageFinal,
  outputEstimate: tap.outputEstimate,
  contentSeen: tap.contentSeen,
});

describe("an image stream", () => {
  test("passes OpenAI's partial pictures and reads usage of the finished one", () => {
    const { tap, out } = listen(openai);
    expect(out).toBe(openai);
    expect(tap.usage?.usage).toEqual({ ...noUsage, inputUncached: 10, imageInput: 40, imageOutput: 300, images: 1 });
    expect(facts(tap)).toMatchObject({ events: 3, complete: true, usageFinal: true, ended: false, contentSeen: true });
  });

  test("counts Ark's finished pictures, not the failed ones", () => {
    const { tap, out } = listen(ark);
    expect(out).toBe(ark);
    expect(tap.usage?.usage).toEqual({ ...noUsage, imageOutput: 32, images: 2 });
    expect(facts(tap)).toMatchObject({ events: 5, complete: true, usageFinal: true, ended: true });
  });

  test("counts all finished pictures and uses the last reported usage", () => {
    const one = event("image_generation.completed", { b64_json: "QUJD" });
    const two = event("image_generation.completed", { b64_json: "QUJD", usage });
    expect(listen(two + two + one).tap.usage?.usage).toMatchObject({ images: 3, imageOutput: 300, imageInput: 40 });
  });

  test("reports the pictures of a stream that broke off, but not as final usage", () => {
    const { tap } = listen(ark.slice(0, ark.indexOf("event: image_generation.completed")));
    expect(facts(tap)).toMatchObject({
      complete: false,
      usageFinal: false,
      usage: { usage: { images: 2 }, raw: "{}" },
    });
    const early = listen(openai.slice(0, openai.indexOf(": ping"))).tap;
    expect(facts(early)).toMatchObject({ complete: false, usage: null, contentSeen: true, outputEstimate: 100 });
  });

  test("passes the same bytes and reads the same facts for any chunking", () => {
    for (const text of [openai, ark, openai.replaceAll("\n", "\r\n"), ark.replaceAll("\n", "\r")]) {
      const plain = listen(text);
      fc.assert(
        fc.property(fc.array(fc.nat({ max: 2_000 }), { maxLength: 30 }), (cuts) => {
          const { tap, out } = listen(text, cuts);
          expect(out).toBe(plain.out);
          expect(facts(tap)).toEqual(facts(plain.tap));
        }),
        { numRuns: 300 },
      );
    }
  });

  test("passes an event of many megabytes in small pieces with few copies", () => {
    const picture = "A".repeat(16 * 1024 * 1024);
    const bytes = encoder.encode(event("image_generation.completed", { b64_json: picture, usage }));
    const tap = imagesWire.tapStream(false);
    let size = 0;
    for (let at = 0; at < bytes.length; at += 2_048) size += tap.push(bytes.subarray(at, at + 2_048)).length;
    expect(size).toBe(bytes.length);
    expect(tap.usage?.usage.images).toBe(1);
  });
});

describe("a broken image stream", () => {
  test("reports an error event and passes it on", () => {
    const error = event("error", { error: { message: "moderation", code: "moderation_blocked" } });
    const { tap, out } = listen(event("image_generation.partial_image", { b64_json: "QUJD" }) + error);
    expect(out.endsWith(error)).toBe(true);
    expect(tap.failure?.message).toContain("moderation");
    expect(tap.complete()).toBe(false);
  });

  test("fails on a first event that is not JSON, so that another deployment is tried", () => {
    expect(() => listen("data: {broken\n\n")).toThrow(Failure);
  });

  test("fails on an event larger than any picture", () => {
    const tap = new ImagesStreamTap();
    const piece = new Uint8Array(1024 * 1024).fill(0x41);
    tap.push(encoder.encode("data: "));
    expect(() => {
      for (let sent = 0; sent <= bounds.imageEventBytesMax; sent += piece.length) tap.push(piece);
    }).toThrow("more than");
  });
});
