import { expect } from "bun:test";
import type { Row } from "./row.ts";
import { promptUsage } from "./row.ts";

const both = ["latest", "previous"] as const;
const text = "one two three";
const dimensions = 4;

const embeddings: Row = {
  endpoint: "embeddings",
  client: "openai",
  versions: both,
  calls: [
    {
      name: "both encodings, with the requested dimensions",
      async run({ openai, marker }, model) {
        const vectors: number[][] = [];
        for (const encoding_format of ["float", undefined] as const) {
          const request = { model, input: marker + text, dimensions };
          const created = await openai.embeddings.create(
            encoding_format === undefined ? request : { ...request, encoding_format },
          );
          expect([created.object, created.data.length, created.data[0]?.index]).toEqual(["list", 1, 0]);
          expect(created.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
          vectors.push((created.data[0]?.embedding ?? []).map(Math.fround));
        }
        expect(vectors[0]).toHaveLength(dimensions);
        expect(vectors[1]).toEqual(vectors[0] ?? []);
      },
      expectedUsage: promptUsage,
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
      async run({ post, marker }, model) {
        const path = `/v1beta/models/${encodeURIComponent(model)}:embedContent`;
        const { embedding } = (await post(path, { content: { parts: [{ text: marker + text }] }, ...length })) as {
          readonly embedding: { readonly values: readonly number[] };
        };
        expect(embedding.values).toHaveLength(dimensions);
      },
      expectedUsage: promptUsage,
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
      async run({ genai, recorder, marker }, model) {
        const created = await genai.models.embedContent({ model, contents: marker + text, config: length });
        expect(recorder.last().url).toContain(":batchEmbedContents");
        expect(created.embeddings?.map(({ values }) => values?.length)).toEqual([dimensions]);
      },
      expectedUsage: promptUsage,
    },
  ],
};

export const vectorRows: readonly Row[] = [embeddings, embedContent, batchEmbedContents];
