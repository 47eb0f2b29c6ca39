import { expect } from "bun:test";
import type { TruthRecord } from "@sluice/simulator";
import type { Row } from "./row.ts";
import { type Json, promptUsage, replyJson } from "./row.ts";

const both = ["latest", "previous"] as const;
const prompt = "one two three";

function generated(truth: TruthRecord) {
  return { ...promptUsage(truth), output: truth.output_tokens_emitted };
}

const parameters = { prompt, suffix: "end here", max_tokens: 3 };

const completions: Row = {
  endpoint: "completions",
  client: "openai",
  versions: both,
  calls: [
    {
      name: "with prompt and suffix",
      async run({ openai, marker }, model) {
        const { object, choices, usage } = await openai.completions.create({
          model,
          ...parameters,
          prompt: marker + prompt,
        });
        expect([object, choices.length, choices[0]?.finish_reason]).toEqual(["text_completion", 1, "length"]);
        expect(choices[0]?.text).not.toBe("");
        expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 });
      },
      expectedUsage: generated,
    },
    {
      name: "stream",
      async run({ openai }, model) {
        const stream_options = { include_usage: true };
        const stream = await openai.completions.create({ model, ...parameters, stream: true, stream_options });
        let [pieces, finish, total] = [0, "", 0];
        for await (const { choices, usage } of stream) {
          if ((choices[0]?.text ?? "") !== "") pieces++;
          finish = choices[0]?.finish_reason ?? finish;
          total = usage?.total_tokens ?? total;
        }
        expect([pieces, finish, total]).toEqual([3, "length", 8]);
      },
      expectedUsage: generated,
    },
  ],
};

const documents = ["a hill", "ships go to a harbor", "a lighthouse"];

const rerank: Row = {
  endpoint: "rerank",
  client: "plain",
  versions: ["latest"],
  calls: [
    {
      name: "rerank",
      async run({ post }, model) {
        const query = "where do ships go";
        const { results } = (await post("/v1/rerank", { model, query, documents, top_n: 2 })) as {
          readonly results: readonly { readonly index: number; readonly relevance_score: number }[];
        };
        expect(results.map(({ index }) => index)).toEqual([1, 0]);
        expect(results[0]?.relevance_score).toBeGreaterThan(results[1]?.relevance_score ?? 1);
      },
      // Bedrock's rerankers report no usage; up to a hundred documents count as one search.
      estimatedUsage: { search_units: 1, cost_nano_usd: 2_000_000 },
      expectedUsage(truth) {
        const { meta, usage } = replyJson(truth) as {
          readonly meta?: Json;
          readonly usage?: { readonly total_tokens: number };
        };
        if (meta !== undefined) return { search_units: 1 };
        return usage === undefined ? null : { input_uncached: usage.total_tokens };
      },
    },
  ],
};

const moderations: Row = {
  endpoint: "moderations",
  client: "openai",
  versions: both,
  calls: (
    [
      ["one text", "a calm sentence", [false]],
      ["several texts", ["a calm sentence", "such violence"], [false, true]],
      [
        "text and image",
        [
          { type: "text", text: "such violence" },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
        ],
        [true, false],
      ],
    ] as const
  ).map(([name, input, flagged]) => ({
    name,
    async run({ openai }, model) {
      const { results } = await openai.moderations.create({ model, input: input as string | string[] });
      expect(results.map((result) => result.flagged)).toEqual([...flagged]);
    },
    estimatedUsage: { charged_requests: 1, cost_nano_usd: 1_000_000 },
    expectedUsage: () => null,
  })),
};

const parcel = "the parcel arrived late";

const decisions: readonly Row[] = [
  {
    endpoint: "decisions",
    client: "openai",
    versions: ["latest"],
    calls: [
      {
        name: "predicate and choice",
        async run({ openai }, model) {
          const { answers } = await openai.decisions.create({
            ...{ model, input: parcel },
            questions: [
              { type: "predicate", name: "late", instructions: "the parcel arrived late" },
              { type: "choice", instructions: "when?", choices: [{ value: "late" }, { value: "early" }] },
            ],
          });
          expect(answers).toMatchObject([
            { type: "predicate", name: "late", probability: 0.99 },
            { type: "choice", choice: "late" },
          ]);
        },
        expectedUsage: promptUsage,
      },
    ],
  },
  {
    endpoint: "gemini-decisions",
    client: "genai",
    versions: ["latest"],
    calls: [
      {
        name: "predicate",
        async run({ genai }, model) {
          const { answers } = await genai.decisions.create({
            ...{ model: `models/${model}`, input: parcel },
            questions: { late: { type: "noul", instructions: "the parcel arrived late" } },
          });
          expect(answers?.["late"]).toMatchObject({ type: "noul", noul: 0.99 });
        },
        expectedUsage: promptUsage,
      },
    ],
  },
];

const nothing = () => ({});

const counts: readonly Row[] = [
  {
    endpoint: "input-tokens",
    client: "openai",
    versions: both,
    estimates: true,
    calls: [
      {
        name: "count",
        async run({ openai, recorder }, model) {
          const { input_tokens } = await openai.responses.inputTokens.count({ model, input: prompt });
          expectCount(input_tokens, recorder.last().headers);
        },
        expectedUsage: nothing,
      },
    ],
  },
  {
    endpoint: "count-tokens",
    client: "anthropic",
    versions: both,
    estimates: true,
    calls: [
      {
        name: "count",
        async run({ anthropic, recorder }, model) {
          const messages = [{ role: "user" as const, content: prompt }];
          expectCount(
            (await anthropic.messages.countTokens({ model, messages })).input_tokens,
            recorder.last().headers,
          );
        },
        expectedUsage: nothing,
      },
    ],
  },
  {
    endpoint: "gemini-count-tokens",
    client: "genai",
    versions: both,
    estimates: true,
    calls: [
      {
        name: "count",
        async run({ genai, recorder }, model) {
          expectCount(
            (await genai.models.countTokens({ model, contents: prompt })).totalTokens,
            recorder.last().headers,
          );
        },
        expectedUsage: nothing,
      },
    ],
  },
];

/** The simulator counts words exactly; an estimate has a warning. */
function expectCount(tokens: number | undefined, headers: Headers): void {
  const estimated = headers.get("x-sluice-warnings")?.includes("estimate") ?? false;
  if (estimated) expect(tokens).toBeGreaterThan(0);
  else expect(tokens).toBe(3);
}

export const textRows: readonly Row[] = [completions, rerank, moderations, ...decisions, ...counts];
