import { expect } from "bun:test";
import type { TruthRecord } from "@sluice/simulator";
import { toFile } from "openai";
import type { ImagesResponse } from "openai/resources/images";
import { type Call, type Json, type Row, replyJson } from "./row.ts";

const both = ["latest", "previous"] as const;
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const prompt = "a red boat";

/** Checks that there is one image, as data or as a URL. */
function expectPicture({ data }: ImagesResponse): void {
  expect(data).toHaveLength(1);
  const [image] = data ?? [];
  if (image?.url === undefined || image.url === null)
    expect(Buffer.from(image?.b64_json ?? "", "base64").toString("latin1", 1, 4)).toBe("PNG");
  else expect(image.url).toMatch(/^http.*\.png$/);
}

/** One image, with the tokens that the upstream reported. */
function imageUsage(truth: TruthRecord): Readonly<Record<string, number>> {
  const { usage, usageMetadata } = replyJson(truth) as { readonly usage?: Json; readonly usageMetadata?: Json };
  if (usageMetadata !== undefined) {
    return { images: 1, input_uncached: truth.prompt_tokens, image_output: truth.output_tokens_emitted };
  }
  const details = (usage?.["input_tokens_details"] ?? {}) as {
    readonly text_tokens?: number;
    readonly image_tokens?: number;
  };
  return {
    images: 1,
    image_output: Number(usage?.["output_tokens"] ?? 0),
    input_uncached: details.text_tokens ?? 0,
    image_input: details.image_tokens ?? 0,
  };
}

function row(endpoint: "images" | "image-edits", calls: readonly Call[]): Row {
  return { endpoint, client: "openai", versions: both, calls };
}

export const pictureRows: readonly Row[] = [
  row("images", [
    {
      name: "generate",
      async run({ openai, marker }, model) {
        expectPicture(await openai.images.generate({ model, prompt: marker + prompt }));
      },
      expectedUsage: imageUsage,
    },
  ]),
  row("image-edits", [
    {
      name: "edit",
      async run({ openai, marker }, model) {
        const image = await toFile(png, "boat.png", { type: "image/png" });
        expectPicture(await openai.images.edit({ model, prompt: marker + prompt, image }));
      },
      expectedUsage: imageUsage,
    },
  ]),
];
