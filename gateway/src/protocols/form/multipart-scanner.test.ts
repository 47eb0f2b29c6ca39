import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bounds, Failure } from "#core/index.ts";
import { MultipartScanner } from "./multipart-scanner.ts";

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

interface Part {
  readonly name: string;
  readonly filename: string | null;
  readonly contentType: string | null;
  readonly start: number;
  readonly end: number;
  readonly body: Buffer;
}

/** Scans `bytes` cut at `cuts`; throws what the scanner throws. */
function scan(bytes: Uint8Array, boundary: string, cuts: readonly number[] = []): { parts: Part[]; ended: boolean } {
  const scanner = new MultipartScanner(boundary);
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, other) => one - other);
  const parts: Part[] = [];
  let open: { head: Omit<Part, "start" | "end" | "body">; start: number; pieces: Buffer[] } | null = null;
  let ended = false;
  let from = 0;
  for (const to of [...places, bytes.length]) {
    // The chunk is overwritten afterwards: nothing may depend on it later.
    const chunk = new Uint8Array(bytes.subarray(from, to));
    for (const event of scanner.push(chunk)) {
      if (event.kind === "part-start") open = { head: event.head, start: event.start, pieces: [] };
      else if (event.kind === "part-data") {
        expect(event.bytes.length).toBeGreaterThan(0);
        open?.pieces.push(Buffer.from(event.bytes));
      } else if (event.kind === "part-end" && open !== null) {
        parts.push({ ...open.head, start: open.start, end: event.end, body: Buffer.concat(open.pieces) });
        open = null;
      } else if (event.kind === "end") ended = true;
    }
    chunk.fill(0);
    from = to;
  }
  scanner.end();
  return { parts, ended };
}

function refusal(bytes: Uint8Array, boundary = "b"): string {
  try {
    scan(bytes, boundary);
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.code;
    throw thrown;
  }
  return "accepted";
}

const field = (name: string, value: string, boundary = "b"): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

describe("scanning a form", () => {
  // Bodies consist of the characters of boundaries, so that near misses are common.
  const nearMiss = fc.array(fc.constantFrom("\r", "\n", "\r\n", "-", "--", "--b", "\r\n--", "\r\n--a", "x", "\u00ff"), {
    maxLength: 12,
  });
  const part = fc.record({
    name: fc.constantFrom("image", "image[]", "prompt", "mask"),
    filename: fc.option(fc.constantFrom("a.png", 'a\\"b.png', "")),
    contentType: fc.option(fc.constantFrom("image/png", "text/plain; charset=utf-8")),
    body: nearMiss.map((pieces) => pieces.join("")),
  });
  const margins = fc.tuple(
    fc.constantFrom("", "preamble\r\n", "\r\n"),
    fc.constantFrom("", "\r\n", "\r\nepilogue --b"),
  );

  test("finds the same parts for any chunking", () => {
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 4 }),
        fc.constantFrom("b2", "----WebKitFormBoundaryAbc", "a'()+_,-./:=?"),
        margins,
        fc.array(fc.nat(), { maxLength: 12 }),
        (parts, boundary, [preamble, epilogue], cuts) => {
          fc.pre(parts.every(({ body }) => !`\r\n${body}`.includes(`\r\n--${boundary}`)));
          const text = parts
            .map(({ name, filename, contentType, body }) => {
              const file = filename === null ? "" : `; filename="${filename}"`;
              const type = contentType === null ? "" : `\r\nContent-Type: ${contentType}`;
              return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}${type}\r\n\r\n${body}\r\n`;
            })
            .join("");
          const bytes = latin1(`${preamble}${text}--${boundary}--${epilogue}`);
          const plain = scan(bytes, boundary);
          expect(plain.ended).toBe(true);
          expect(plain.parts.map(({ name, contentType, body }) => ({ name, contentType, body }))).toEqual(
            parts.map(({ name, contentType, body }) => ({ name, contentType, body: latin1(body) })),
          );
          expect(plain.parts.map(({ filename }) => filename)).toEqual(
            parts.map(({ filename }) => filename?.replace("\\", "") ?? null),
          );
          for (const { start, end, body } of plain.parts) expect(bytes.subarray(start, end).equals(body)).toBe(true);
          expect(scan(bytes, boundary, cuts)).toEqual(plain);
          expect(scan(bytes, boundary, Array.from(bytes.keys()))).toEqual(plain);
        },
      ),
      { numRuns: 400 },
    );
  });

  test("reads a form that FormData wrote", async () => {
    const form = new FormData();
    form.append("prompt", "Grüße\r\n--x");
    form.append("image[]", new File([new Uint8Array([0, 13, 10, 45, 45])], "ä b.png", { type: "image/png" }));
    form.append("image[]", new File([], "empty.png"));
    form.append("model", "gpt-image-1");
    const request = new Request("http://x", { method: "POST", body: form });
    const boundary = /boundary="?([^";]+)/.exec(request.headers.get("content-type") ?? "")?.[1] ?? "";
    const { parts } = scan(new Uint8Array(await request.arrayBuffer()), boundary);
    expect(parts.map(({ name, filename, body }) => [name, filename, body.length])).toEqual([
      ["prompt", null, Buffer.byteLength("Grüße\r\n--x")],
      ["image[]", "ä b.png", 5],
      ["image[]", "empty.png", 0],
      ["model", null, 11],
    ]);
  });
});

describe("ambiguous or unbounded forms", () => {
  const ok = `${field("model", "m")}--b--`;
  test.each([
    ["no bytes", ""],
    ["no boundary", "model=m"],
    ["no last boundary", field("model", "m")],
    ["a last boundary that is cut", ok.slice(0, -1)],
    ["no parts", "--b--"],
    ["a boundary with text behind it", `--bx\r\n${ok}`],
    ["a boundary with a blank behind it", ok.replace("--b\r\n", "--b \r\n")],
    ["a last boundary with text behind it", `${ok}x`],
    ["line ends of LF alone", ok.replaceAll("\r\n", "\n")],
    ["a part without a disposition", "--b\r\nContent-Type: text/plain\r\n\r\nx\r\n--b--"],
    ["a part without headers", "--b\r\n\r\nx\r\n--b--"],
    ["a part without a name", "--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--"],
    ["a disposition that is no form's", "--b\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--b--"],
    ["two names", ok.replace('name="model"', 'name="model"; name="n"')],
    ["an encoded name", ok.replace("name=", "name*=")],
    ["an escaped name", ok.replace('"model"', '"mod\\el"')],
    ["an open quote", ok.replace('"model"', '"model')],
    ["a folded header", ok.replace("form-data;", "form-data;\r\n ")],
    ["a header line without a colon", ok.replace("Content-Disposition:", "X\r\nContent-Disposition:")],
    ["a blank before the colon", ok.replace("Content-Disposition:", "Content-Disposition :")],
    ["a bare line end in a header", ok.replace("form-data;", "form-data;\n")],
    ["a byte order mark before a header", `--b\r\n\xef\xbb\xbf${ok.slice(5)}`],
    ["two dispositions", ok.replace("Content-", 'Content-Disposition: form-data; name="x"\r\nContent-')],
    ["a transfer encoding", ok.replace("Content-", "Content-Transfer-Encoding: base64\r\nContent-")],
    ["a part whose body is missing", '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n--b--'],
  ])("rejects a form with %s", (_, text) => {
    expect(refusal(latin1(text))).toBe("invalid_request");
  });

  test.each([
    ["a head without end", `--b\r\nX: ${"x".repeat(bounds.formHeadBytesMax)}`],
    ["too many parts", field("a", "1").repeat(bounds.formPartsMax + 1)],
    ["a long preamble", "x".repeat(bounds.formMarginBytesMax + 8)],
    ["a long epilogue", `${ok}\r\n${"x".repeat(bounds.formMarginBytesMax)}`],
  ])("rejects a form with %s as too large", (_, text) => {
    expect(refusal(latin1(text))).toBe("request_too_large");
  });
});
