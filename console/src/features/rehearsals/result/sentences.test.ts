import { expect, test } from "bun:test";
import type { RehearsalResult } from "@sluice/contract";
import { sentencesOf } from "./sentences.ts";

const nothing: RehearsalResult = {
  ...{
    calls: 12_300,
    refused: 0,
    refused_anyway: 0,
    streams_ended: 0,
    recorded_nano_usd: "0",
    rehearsed_nano_usd: "0",
  },
  ...{ difference_nano_usd: "0", refused_nano_usd: "0", repriced_nano_usd: "0", people_touched: 0, keys_touched: 0 },
  ...{ rules: [], people: [], keys: [], models: [], hours: [], first: null, worst: null, requests: [], moved: [] },
  ...{ unknown: [], guardrails: [], allowed: 0 },
};
const place = { model: "fast", provider: "lab" };
const moved = [{ from: place, to: place, calls: 2, recorded_nano_usd: "0", rehearsed_nano_usd: "0" }];

test.each([
  [{ calls: 0 }, ["There were no requests in this period."]],
  [{ calls: 0, allowed: 2 }, ["2 requests that guardrails refused then would be let through. Their cost is unknown."]],
  [
    { allowed: 1 },
    [
      "Would have refused none of 12,300 requests.",
      "1 request that guardrails refused then would be let through. Its cost is unknown.",
    ],
  ],
  [{}, ["Would have changed nothing about 12,300 requests."]],
  [
    { refused: 41, people_touched: 9, keys_touched: 12, difference_nano_usd: "-3200000000" },
    ["Would have refused 41 of 12,300 requests of 9 people, and saved $3.20."],
  ],
  [{ refused: 1, calls: 1, keys_touched: 1 }, ["Would have refused 1 of 1 request of 1 API key."]],
  [
    { difference_nano_usd: "1500000", moved },
    [
      "Would have refused none of 12,300 requests, and cost $0.0015 more.",
      "2 requests would have gone to another model or provider.",
    ],
  ],
  [
    { streams_ended: 1, refused_anyway: 3 },
    [
      "Would have refused none of 12,300 requests.",
      "1 stream would have ended early.",
      "3 other requests would be refused now without this change too: limits have changed since.",
    ],
  ],
] as const)("a result with %j is summed up in sentences", (part, sentences) => {
  expect(sentencesOf({ ...nothing, ...(part as Partial<RehearsalResult>) })).toEqual(sentences as never);
});
