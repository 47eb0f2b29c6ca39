import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Failure } from "#core/index.ts";
import { patchRequest } from "../request/change-body.ts";
import { imagesWire } from "./index.ts";

const encoder = new TextEncoder();
const bytes = (value: unknown): Uint8Array => encoder.encode(typeof value === "string" ? value : JSON.stringify(value));
const read = (value: unknown) => imagesWire.readRequest(bytes(value), null);

function refusal(body: unknown): unknown {
  try {
    read(body);
  } catch (thrown) {
    if (thrown instanceof Failure) return { code: thrown.code, param: thrown.param };
    throw thrown;
  }
  return "accepted";
}

describe("an image request", () => {
  test("changes only the model", () => {
    const extra = fc.dictionary(
      fc.string().filter((key) => !["model", "prompt", "stream", "n", "__proto__"].includes(key.toLowerCase())),
      fc.jsonValue({ maxDepth: 3 }),
    );
    fc.assert(
      fc.property(extra, fc.string({ minLength: 1 }), (more, name) => {
        const raw = bytes({ ...more, prompt: "a cat", model: "public" });
        const sent = patchRequest(imagesWire, raw, imagesWire.readRequest(raw, null), name);
        expect(new TextDecoder().decode(sent)).toBe(
          new TextDecoder().decode(raw).replace('"model":"public"', () => `"model":${JSON.stringify(name)}`),
        );
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    [{}, 1],
    [{ n: 4 }, 4],
    [{ n: null }, 1],
    [{ sequential_image_generation: "auto", sequential_image_generation_options: { max_images: 6 } }, 6],
    [{ sequential_image_generation: "auto" }, 15],
    [{ sequential_image_generation: "disabled", sequential_image_generation_options: { max_images: 6 } }, 1],
  ])("reads the number of pictures in %j as %d", (more, images) => {
    expect(read({ model: "m", prompt: "a cat", ...more }).images).toBe(images);
  });

  test("estimates input from the prompt, not from pictures", () => {
    const facts = read({ model: "m", prompt: "x".repeat(400), images: [{ image_url: "A".repeat(100_000) }] });
    expect(facts.inputEstimate).toBe(100);
  });

  test("reads streaming and user", () => {
    expect(read({ model: "m", prompt: "p", stream: true, user: "u1" })).toMatchObject({ stream: true, affinity: "u1" });
  });

  test.each([
    ["{", "invalid_json", null],
    [{ prompt: "p" }, "missing_required_parameter", "model"],
    [{ model: "m" }, "missing_required_parameter", "prompt"],
    [{ model: "m", prompt: "" }, "missing_required_parameter", "prompt"],
    [{ model: "m", prompt: null }, "missing_required_parameter", "prompt"],
    [{ model: "m", prompt: ["p"] }, "invalid_request", "prompt"],
    [{ model: "m", prompt: "p", stream: "yes" }, "invalid_request", "stream"],
  ])("rejects %j as %s, naming %s", (body, code, param) => {
    expect(refusal(body)).toEqual({ code, param });
  });
});
