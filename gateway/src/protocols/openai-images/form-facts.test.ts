import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { bounds, Failure } from "#core/index.ts";
import type { FormFacts } from "../dialect.ts";
import { MultipartScanner } from "../form/multipart-scanner.ts";
import { ImagesFormReader } from "./index.ts";

type Entry = readonly [name: string, value: string, filename?: string];

const picture: Entry = ["image[]", "\r\n\u00ff--", "a.png"];
const model: Entry = ["model", "gpt-image-1"];
const prompt: Entry = ["prompt", "make it Grün"];

function form(entries: readonly Entry[]): Buffer {
  const parts = entries.map(([name, value, filename]) => {
    const file = filename === undefined ? "" : `; filename="${filename}"`;
    return `--b\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  });
  return Buffer.from(`${parts.join("")}--b--\r\n`);
}

function read(bytes: Buffer, pieceBytes = bytes.length): FormFacts {
  const scanner = new MultipartScanner("b");
  const reader = new ImagesFormReader();
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    // The piece is overwritten afterwards: nothing of it may be kept.
    const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
    for (const event of scanner.push(piece)) reader.take(event);
    piece.fill(0);
  }
  scanner.end();
  return reader.facts();
}

function refusal(entries: readonly Entry[]): unknown {
  try {
    read(form(entries));
  } catch (thrown) {
    if (thrown instanceof Failure) return [thrown.code, thrown.param];
    throw thrown;
  }
  return "accepted";
}

describe("reading an image form", () => {
  test("reads the same facts for any field order and chunking", () => {
    const entries: readonly Entry[] = [picture, model, prompt, ["n", "3"], ["stream", "true"], ["user", "u1"], picture];
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...entries], { minLength: 7 }),
        fc.integer({ min: 1, max: 90 }),
        (some, size) => {
          const bytes = form(some);
          const { facts, modelSpan } = read(bytes, size);
          expect(facts).toEqual({
            model: "gpt-image-1",
            modelSpan: null,
            stream: true,
            wantsUsage: true,
            outputTokensMax: null,
            inputEstimate: 4,
            streamOptionsSpan: null,
            affinity: "u1",
            continues: null,
            storesAs: null,
            images: 3,
            mediaByUrl: { pictures: 2, others: 0 },
          });
          expect(bytes.subarray(modelSpan.start, modelSpan.end).toString()).toBe("gpt-image-1");
        },
      ),
      { numRuns: 200 },
    );
  });

  test.each([
    ["true", true],
    ["True", true],
    ["1", true],
    ["false", false],
    ["0", false],
    ["", false],
  ])("reads stream=%j as %p", (value, stream) => {
    expect(read(form([model, prompt, ["stream", value]])).facts.stream).toBe(stream);
  });

  test("requires a count of at least 1", () => {
    for (const value of ["0", "many", "-1", "1.5", " 2", "9".repeat(16)]) {
      expect(refusal([model, prompt, ["n", value]])).toEqual(["invalid_request", "n"]);
    }
    expect(read(form([model, prompt, ["n", ""]])).facts.images).toBe(1);
    expect(read(form([model, prompt, ["n", "12"]])).facts.images).toBe(12);
  });

  test("counts each picture in the form", () => {
    expect(read(form([model, prompt, picture, picture])).facts.mediaByUrl).toEqual({ pictures: 2, others: 0 });
    expect(read(form([model, prompt])).facts.mediaByUrl).toBeUndefined();
  });
});

describe("an incomplete or ambiguous form is rejected", () => {
  test.each<[string, readonly Entry[], string, string]>([
    ["no model", [prompt], "missing_required_parameter", "model"],
    ["an empty model", [["model", ""], prompt], "missing_required_parameter", "model"],
    ["no prompt", [model, picture], "missing_required_parameter", "prompt"],
    ["an empty prompt", [model, ["prompt", ""]], "missing_required_parameter", "prompt"],
    ["two models", [model, prompt, model], "invalid_request", "model"],
    ["a list of models", [["model[]", "m"], prompt], "invalid_request", "model"],
    ["a model as a file", [["model", "m", "m.txt"], prompt], "invalid_request", "model"],
    ["two prompts", [model, prompt, prompt], "invalid_request", "prompt"],
    ["a stream that is no switch", [model, prompt, ["stream", "yes"]], "invalid_request", "stream"],
    [
      "a model without end",
      [["model", "m".repeat(bounds.modelNameCharactersMax + 1)], prompt],
      "invalid_request",
      "model",
    ],
    [
      "a prompt without end",
      [model, ["prompt", "p".repeat(bounds.formTextBytesMax + 1)]],
      "request_too_large",
      "prompt",
    ],
  ])("%s", (_, entries, code, param) => {
    expect(refusal(entries)).toEqual([code, param]);
  });
});
