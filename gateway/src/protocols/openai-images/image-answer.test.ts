import { expect, test } from "bun:test";
import type OpenAI from "openai";
import { type ImageAnswer, type ImageTurn, noUsage } from "#core/index.ts";
import { imagesWire, writeImageAnswer, writeImageEvents } from "./index.ts";

const usage = { ...noUsage, inputUncached: 5, cacheRead: 2, imageInput: 3, output: 4, reasoning: 4, imageOutput: 1290 };
const answer: ImageAnswer = {
  images: [{ mediaType: "image/jpeg", data: "QUJD" }],
  usage,
  revisedPrompt: "a cat, in oil",
};
const turn: ImageTurn = {
  prompt: "a cat",
  count: 1,
  size: { width: 1024, height: 1536 },
  quality: null,
  background: null,
  outputFormat: null,
  images: [],
  mask: null,
  stream: true,
};
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("writes another dialect's pictures in OpenAI's shape with totals", () => {
  const written: OpenAI.ImagesResponse = JSON.parse(text(writeImageAnswer(answer, 1_700_000_000)));
  expect(written).toEqual({
    created: 1_700_000_000,
    data: [{ b64_json: "QUJD", revised_prompt: "a cat, in oil" }],
    output_format: "jpeg",
    usage: {
      input_tokens: 10,
      input_tokens_details: { text_tokens: 7, image_tokens: 3 },
      output_tokens: 1294,
      output_tokens_details: { text_tokens: 4, image_tokens: 1290 },
      total_tokens: 1304,
    },
  });
});

test("omits unknown formats and fields that the upstream did not report", () => {
  const plain = { images: [{ mediaType: "image/heic", data: "QUJD" }], usage: null, revisedPrompt: null };
  expect(JSON.parse(text(writeImageAnswer(plain, 1)))).toEqual({ created: 1, data: [{ b64_json: "QUJD" }] });
});

test("streams one finished event per picture, with usage on the last", () => {
  const two = { ...answer, images: [...answer.images, { mediaType: "image/png", data: "REVG" }] };
  const bytes = writeImageEvents(two, 1_700_000_000, "image_edit", turn);
  const events = text(bytes).split("\n\n").slice(0, -1);
  const [first, second] = events.map(
    (event): OpenAI.ImageEditCompletedEvent => JSON.parse(event.slice(event.indexOf("data: ") + 6)),
  );
  expect(events.every((event) => event.startsWith("event: image_edit.completed\n"))).toBe(true);
  expect(first).toMatchObject({ b64_json: "QUJD", output_format: "jpeg", usage: { total_tokens: 0 } });
  expect(second).toMatchObject({
    type: "image_edit.completed",
    b64_json: "REVG",
    created_at: 1_700_000_000,
    size: "1024x1536",
    quality: "auto",
    background: "auto",
    output_format: "png",
    usage: { total_tokens: 1304, input_tokens_details: { image_tokens: 3 } },
  });
  const tap = imagesWire.tapStream(false);
  expect(tap.push(bytes)).toHaveLength(bytes.length);
  expect(tap.complete()).toBe(true);
  expect(tap.usage?.usage).toEqual({ ...usage, inputUncached: 7, cacheRead: 0, reasoning: 0, images: 2 });
});
