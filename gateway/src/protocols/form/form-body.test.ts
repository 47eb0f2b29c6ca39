import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Spooled } from "#ports/index.ts";
import { createFormBody } from "./form-body.ts";
import { readFormContent } from "./form-content.ts";

const type = { boundary: "b", contentType: "multipart/form-data; boundary=b" };

/** A spooled body in pieces of three bytes. */
function spooled(bytes: Buffer): Spooled & { discards: number } {
  return {
    size: bytes.length,
    discards: 0,
    read(start, end) {
      let at = start;
      return new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            if (at >= end) return controller.close();
            controller.enqueue(bytes.subarray(at, Math.min(at + 3, end)));
            at += 3;
          },
        },
        { highWaterMark: 0 },
      );
    },
    discard() {
      this.discards++;
    },
  };
}

const read = async (stream: ReadableStream<Uint8Array>): Promise<Buffer> =>
  Buffer.from(await new Response(stream).arrayBuffer());

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

function form(): Buffer {
  return Buffer.concat([
    Buffer.from(
      '--b\r\nContent-Disposition: form-data; name="image[]"; filename="a"\r\nContent-Type: application/octet-stream\r\n\r\n',
    ),
    png,
    Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="image[]"\r\nContent-Type: image/webp\r\n\r\nwebp'),
    Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nGrün\r\n'),
    Buffer.from('--b\r\nContent-Disposition: form-data; name="model"\r\n\r\npublic\r\n--b--\r\n'),
  ]);
}

function bodyOf(bytes: Buffer) {
  const start = bytes.indexOf("public");
  const held = spooled(bytes);
  return { held, body: createFormBody(held, type, { start, end: start + "public".length }) };
}

describe("a form for the upstream", () => {
  test("changes only the model name and has the announced length", async () => {
    const bytes = form();
    const { body } = bodyOf(bytes);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (name) => {
        const sent = await read(body.open(name));
        const start = bytes.indexOf("public");
        const expected = [bytes.subarray(0, start), Buffer.from(name), bytes.subarray(start + 6)];
        expect(sent.equals(Buffer.concat(expected))).toBe(true);
        expect(body.size(name)).toBe(sent.length);
      }),
      { numRuns: 100 },
    );
    expect(body.contentType).toBe(type.contentType);
  });

  test("can be read again for each attempt, even at the same time", async () => {
    const { body } = bodyOf(form());
    const [one, other] = await Promise.all([read(body.open("m")), read(body.open("m"))]);
    expect(one.equals(other)).toBe(true);
    const cut = body.open("m").getReader();
    await cut.read();
    await cut.cancel();
    expect((await read(body.open("m"))).equals(one)).toBe(true);
  });

  test("discards its spooled bytes", () => {
    const { body, held } = bodyOf(form());
    body.discard();
    expect(held.discards).toBe(1);
  });
});

describe("reading a form into fields and files", () => {
  test("reads fields as text and files as base64 with their media type", async () => {
    const { body } = bodyOf(form());
    expect(readFormContent(await body.bytes(10_000), body.boundary)).toEqual({
      fields: [
        { name: "prompt", value: "Grün" },
        { name: "model", value: "public" },
      ],
      files: [
        { name: "image[]", filename: "a", mediaType: "image/png", data: png.toString("base64") },
        { name: "image[]", filename: null, mediaType: "image/webp", data: Buffer.from("webp").toString("base64") },
      ],
    });
  });

  test("rejects a form that is too large, so that another upstream is tried", async () => {
    const { body } = bodyOf(form());
    await expect(body.bytes(100)).rejects.toMatchObject({ code: "unsupported_by_model", retry: "other" });
  });
});
