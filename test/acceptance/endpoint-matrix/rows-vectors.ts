import { expect } from "bun:test";
import type { Row } from "./row.ts";
import { promptOf } from "./row.ts";

const both = ["latest", "previous"] as const;
const text = "one two three";
const dimensions = 4;

const embeddings: Row = {
  endpoint: "embeddings",
  client: "openai",
  versions: both,
  calls: [
    {
      name: "in either encoding, of the length that was asked for",
      async run({ openai, mark }, model) {
        const vectors: number[][] = [];
        for (const encoding_format of ["float", undefined] as const) {
          const asked = { model, input: mark + text, dimensions };
          const made = await openai.embeddings.create(
            encoding_format === undefined ? asked : { ...asked, encoding_format },
          );
          expect([made.object, made.data.length, made.data[0]?.index]).toEqual(["list", 1, 0]);
          expect(made.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
          vectors.push((made.data[0]?.embedding ?? []).map(Math.fround));
        }
        expect(vectors[0]).toHaveLength(dimensions);
        expect(vectors[1]).toEqual(vectors[0] ?? []);
      },
      used: promptOf,
    },
  ],
};

const length = { outputDimensionality: dimensions };

const embedContent: Row = {
  endpoint: "embed-content",
  client: "plain",
  versions: ["latest"],
  calls: [
    {
      name: "one content",
      async run({ post, mark }, model) {
        const path = `/v1beta/models/${encodeURIComponent(model)}:embedContent`;
        const { embedding } = (await post(path, { content: { parts: [{ text: mark + text }] }, ...length })) as {
          readonly embedding: { readonly values: readonly number[] };
        };
        expect(embedding.values).toHaveLength(dimensions);
      },
      used: promptOf,
    },
  ],
};

const batchEmbedContents: Row = {
  endpoint: "batch-embed-contents",
  client: "genai",
  versions: both,
  calls: [
    {
      name: "one content",
      async run({ genai, tape, mark }, model) {
        const made = await genai.models.embedContent({ model, contents: mark + text, config: length });
        expect(tape.last().url).toContain(":batchEmbedContents");
        expect(made.embeddings?.map(({ values }) => values?.length)).toEqual([dimensions]);
      },
      used: promptOf,
    },
  ],
};

export const vectorRows: readonly Row[] = [embeddings, embedContent, batchEmbedContents];
