import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { BodyWork, outcomeOf } from "#bodies/index.ts";
import { bounds } from "#core/index.ts";
import { providerOf } from "../../test/provider-fixture.ts";
import { turnOf } from "../../test/video-fixture.ts";

const work = new BodyWork({ offload: null, newId: (prefix) => `${prefix}1` });
const large = "A".repeat(bounds.taskBodyInPlaceBytesMax);
const inline = `data:image/png;base64,${large}`;

async function read(body: unknown) {
  const sent = new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
  const { made, answer } = outcomeOf(await work.do("video-body", { taskId: "vt_1", apart: true, openai: null }, sent));
  return { ...answer, made, value: JSON.parse(answer.text) };
}

/** The vendor's own fields after the stored body was joined with its material. */
async function written({ value, material, made }: Awaited<ReturnType<typeof read>>) {
  const done = await work.do(
    "video-request",
    {
      provider: { ...providerOf("ark"), secret: null },
      upstreamModel: "m",
      turn: turnOf({ vendorFields: value }),
      taskId: "vt_1",
      callbackUrl: null,
      material,
      media: [],
    },
    made ?? new Uint8Array(0),
  );
  const { content: _, model: __, ...more } = JSON.parse(new TextDecoder().decode(outcomeOf(done).made ?? undefined));
  return more;
}

test("a body up to the bound stays unchanged, and its digest is the hash of its bytes", async () => {
  const body = ` {"a" :"data:image/png;base64,${"A".repeat(60_000)}"}`;
  expect(await read(body)).toMatchObject({ text: body, material: null, made: null });
  const digest = createHash("sha256").update(body).digest("hex");
  expect((await read(body)).digest).toBe(digest);
  expect((await read({ x: inline })).digest).toBe(
    createHash("sha256")
      .update(JSON.stringify({ x: inline }))
      .digest("hex"),
  );
});

test("of a larger one the material is kept apart under the hash of its bytes, which are one task's alone", async () => {
  const { text, value, material, made } = await read({ image: inline, seed: 7 });
  expect(text.length).toBeLessThan(200);
  expect(value.seed).toBe(7);
  expect(value.image).toStartWith("data:image/png;base64,sluice-material:");
  expect(new TextDecoder().decode(made ?? undefined)).toBe(`vt_1\n${large}`);
  expect(material).toEqual({
    hash: createHash("sha256")
      .update(made ?? "")
      .digest("hex"),
    size: made?.length ?? 0,
  });
});

test("restores the material of a body at any depth", async () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.constantFrom(inline, large, `\ufeff${large}`, `é${large}`, `data:,${large}`, `https://a.example/${large}`),
    fc.constantFrom("data:image/png;base64,AAAA", "sluice-material:x", "asset://as_1"),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ depthSize: "small" }, text, fc.integer(), fc.constant(null), tie("list"), tie("object")),
    list: fc.array(tie("tree"), { maxLength: 4 }),
    object: fc.dictionary(fc.constantFrom("a", "image", "__proto__", "text", "é", "nested"), tie("tree")),
  }));
  await fc.assert(
    fc.asyncProperty(tree, async (one) => {
      // Prompts stay in the row, whose size is limited.
      const body = JSON.parse(JSON.stringify({ x: one, image: inline }).replaceAll('"text"', '"t"'));
      expect(await written(await read(body))).toEqual(body);
    }),
    { numRuns: 60 },
  );
});

test("a mark that a caller writes means nothing", async () => {
  const first = await read({ image: inline });
  const forged = await read({ image: `${inline}B`, x: first.value.image, y: "sluice-material:0:0:9" });
  const { x, y, image } = await written(forged);
  expect(x).toBe(first.value.image);
  expect(y).toBe("sluice-material:0:0:9");
  expect(image).toBe(`${inline}B`);
});

test("text, settings and the model name stay in the row, and are refused if they are too large for it", async () => {
  const words = "w".repeat(bounds.taskBodyInPlaceBytesMax);
  const body = { prompt: words, metadata: { note: words }, content: [{ type: "text", text: words }], x: large };
  const { value } = await read(body);
  expect(value).toMatchObject({ prompt: words, metadata: { note: words }, content: [{ type: "text", text: words }] });
  expect(value.x).not.toBe(large);
  const more = { ...body, prompt: words.repeat(4) };
  await expect(read(more)).rejects.toMatchObject({ code: "request_too_large" });
});

test.each([
  ["halves of surrogates", { image: `${"\ud800".repeat(100_000)}` }],
  ["an asset's name", { image: `asset://${"a".repeat(300_000)}` }],
  ["many texts", { x: Array.from({ length: 100 }, () => "a".repeat(8_000)) }],
  ["a long name", { ["a".repeat(300_000)]: 1 }],
])("%s are not material, and too large for a row", async (_what, body) => {
  await expect(read(body)).rejects.toMatchObject({ code: "request_too_large" });
});

test("incomplete material is not sent", async () => {
  const { value, material, made } = await read({ image: inline });
  const short = { value, material, made: made?.slice(0, -1) ?? null } as Awaited<ReturnType<typeof read>>;
  await expect(written(short)).rejects.toMatchObject({ code: "internal_error" });
});
