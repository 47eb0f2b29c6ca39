import { expect, test } from "bun:test";
import fc from "fast-check";
import { MultipartReader, multipartBoundary } from "../src/multipart-reader.ts";
import { sha256 } from "./sdk-call.ts";

interface Part {
  readonly name: string;
  readonly filename: string | null;
  readonly content: Uint8Array;
}

function multipartBody(parts: readonly Part[], boundary: string): Buffer {
  const pieces = parts.flatMap(({ name, filename, content }) => {
    const file = filename === null ? "" : `; filename="${filename}"\r\nContent-Type: image/png`;
    return [
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`),
      content,
      Buffer.from("\r\n"),
    ];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

const part = fc.record({
  name: fc.stringMatching(/^[a-z]{1,8}(\[\])?$/),
  filename: fc.option(fc.stringMatching(/^[a-z ]{1,8}\.png$/)),
  // Pieces of the boundary itself are the contents that are easiest to misread.
  content: fc
    .array(fc.constantFrom("\r\n", "--", "\r\n--edg", "edge", "x", "\r\n--ed", "\u00ff\u0000"), { maxLength: 12 })
    .map((pieces) => Buffer.from(pieces.join(""), "latin1"))
    .filter((content) => !content.includes("\r\n--edge")),
});

test("a multipart body yields the same parts for any split", () => {
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      (parts, cuts) => {
        const bytes = multipartBody(parts, "edge");
        const reader = new MultipartReader("edge");
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const size = cuts[turn % cuts.length] ?? 1;
          reader.feed(bytes.subarray(at, at + size));
          at += size;
        }
        const upload = reader.finish();
        expect(upload).toMatchObject({ broken: null, bytes: bytes.length, sha256: sha256(bytes) });
        expect(upload.parts.map((one) => [one.name, one.filename, one.size, one.sha256])).toEqual(
          parts.map((one) => [one.name, one.filename, one.content.length, sha256(one.content)]),
        );
        expect(upload.parts.map((one) => one.value !== undefined)).toEqual(parts.map((one) => one.filename === null));
      },
    ),
  );
});

test("a body without an end and a part without a name are reported as broken", () => {
  const unfinished = new MultipartReader("edge");
  unfinished.feed(Buffer.from('--edge\r\nContent-Disposition: form-data; name="a"\r\n\r\nhalf'));
  expect(unfinished.finish().broken).toBe("the closing boundary is missing");
  const nameless = new MultipartReader("edge");
  nameless.feed(Buffer.from("--edge\r\nContent-Type: text/plain\r\n\r\nx\r\n--edge--"));
  expect(nameless.finish().broken).toBe("a part has no name");
});

test("reads a boundary with or without quotes, of form data only", () => {
  expect(multipartBoundary('multipart/form-data; boundary="a b"')).toBe("a b");
  expect(multipartBoundary("Multipart/Form-Data; charset=x; boundary=abc")).toBe("abc");
  expect(multipartBoundary("multipart/mixed; boundary=abc")).toBeNull();
  expect(multipartBoundary("application/json")).toBeNull();
});
