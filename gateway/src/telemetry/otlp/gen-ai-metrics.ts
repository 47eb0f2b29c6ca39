import { bounds, type LedgerEntry } from "#core/index.ts";
import type { ReportedMetric, ReportedPoint } from "../metric-reports.ts";
import { Distribution, Series } from "../tally.ts";
import { errorTypeOf, operationOf, providerNameOf, tokenCounts } from "./gen-ai-names.ts";
import { serverAttributes, type UpstreamFacts } from "./span-attributes.ts";

type Attributes = ReportedPoint["labels"];

/** Counts of one provider, model and operation. */
type Counts = ReturnType<typeof createCounts>;

const tokenNames = [
  "input_tokens",
  "output_tokens",
  "cache_read.input_tokens",
  "cache_write.input_tokens",
  "reasoning.output_tokens",
] as const;
const modalities = ["text", "audio", "image"] as const;

/** Boundaries of the conventions: 0.01 s to 81.92 s, and 1 to 67,108,864 tokens. */
const secondBoundaries = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);
const tokenBoundaries = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** The metrics of OpenTelemetry's GenAI conventions, from ledger entries. No label comes from a caller. */
export class GenAiMetrics {
  readonly #series: Series<string, Counts>;
  readonly #oldNames: boolean;

  constructor(upstreamOf: (provider: string) => UpstreamFacts | null, oldNames: boolean) {
    this.#oldNames = oldNames;
    this.#series = new Series(bounds.metricPairsMax, (key: string) => createCounts(key, upstreamOf));
  }

  attemptEnd(entry: LedgerEntry): void {
    const { provider, upstreamModel, endpoint } = entry;
    if (entry.outcome === "rejected" || provider === "") return;
    // By operation, not by endpoint: two series of a metric must differ in their attributes.
    const counts = this.#series.of(`${provider}\n${upstreamModel}\n${operationOf(endpoint)}`);
    // The usage of another model has no duration.
    if (entry.calls !== 0) counts.durations.of(errorTypeOf(entry) ?? "").seconds.observe(entry.totalMs / 1_000);
    if (entry.stream) {
      const firstMs = entry.firstTokenMs ?? entry.firstByteMs;
      if (firstMs !== null) {
        counts.firstChunk.observe(firstMs / 1_000);
        counts.callerFirstToken.observe((entry.startedAfterMs + firstMs) / 1_000);
      }
    }
    if (entry.usageSource !== "none") countTokens(counts, entry);
  }

  measured(): readonly ReportedMetric[] {
    const all = this.#series.all();
    const durations = all.flatMap((counts) =>
      counts.durations.all().map(({ attributes, seconds }) => ({ labels: attributes, value: seconds })),
    );
    const duration = (name: string): ReportedMetric => ({
      ...{ name, unit: "s", help: "Duration of an attempt.", type: "histogram" },
      points: durations,
    });
    return [
      duration("gen_ai.client.inference.duration"),
      ...distributions.map(([name, of, unit, help]) => ({
        ...{ name, unit, help, type: "histogram" as const },
        points: all.filter((each) => each[of].count > 0).map((each) => ({ labels: each.attributes, value: each[of] })),
      })),
      ...tokenNames.map((name) => tokenSum(all, name)),
      ...(this.#oldNames ? [duration("gen_ai.client.operation.duration"), oldTokenUsage(all)] : []),
    ];
  }
}

const distributions = [
  ["gen_ai.client.inference.time_to_first_chunk", "firstChunk", "s", "Time to the first chunk of a stream."],
  [
    "gen_ai.server.time_to_first_token",
    "callerFirstToken",
    "s",
    "Time from the arrival of a call to the first chunk of its stream.",
  ],
  ["gen_ai.client.inference.operation.input_tokens", "input", "{token}", "Input tokens of an attempt."],
  ["gen_ai.client.inference.operation.output_tokens", "output", "{token}", "Output tokens of an attempt."],
] as const;

function createCounts(key: string, upstreamOf: (provider: string) => UpstreamFacts | null) {
  const [provider = "", model = provider, operation = "other"] = key.split("\n");
  const upstream = upstreamOf(provider);
  const attributes: Attributes = {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": providerNameOf(upstream?.kind ?? provider),
    "gen_ai.request.model": model,
    "sluice.provider": provider,
    ...serverAttributes(upstream),
  };
  return {
    attributes,
    durations: new Series(bounds.metricValuesMax, (error: string) => ({
      attributes: error === "" ? attributes : { ...attributes, "error.type": error },
      seconds: new Distribution(secondBoundaries),
    })),
    firstChunk: new Distribution(secondBoundaries),
    callerFirstToken: new Distribution(secondBoundaries),
    input: new Distribution(tokenBoundaries),
    output: new Distribution(tokenBoundaries),
    tokens: {
      input_tokens: noTokens(),
      output_tokens: noTokens(),
      "cache_read.input_tokens": noTokens(),
      "cache_write.input_tokens": noTokens(),
      "reasoning.output_tokens": noTokens(),
    },
  };
}

function noTokens() {
  return { text: 0, audio: 0, image: 0 };
}

function countTokens(counts: Counts, { usage }: LedgerEntry): void {
  const { input, output } = tokenCounts(usage);
  counts.input.observe(input);
  counts.output.observe(output);
  const { tokens } = counts;
  const audioInput = usage.audioInput + usage.cacheReadAudio;
  tokens.input_tokens.text += input - audioInput - usage.imageInput;
  tokens.input_tokens.audio += audioInput;
  tokens.input_tokens.image += usage.imageInput;
  tokens.output_tokens.text += usage.output + usage.separateReasoning;
  tokens.output_tokens.audio += usage.audioOutput;
  tokens.output_tokens.image += usage.imageOutput;
  tokens["cache_read.input_tokens"].text += usage.cacheRead;
  tokens["cache_read.input_tokens"].audio += usage.cacheReadAudio;
  tokens["cache_write.input_tokens"].text += usage.cacheWrite5m + usage.cacheWrite1h;
  tokens["reasoning.output_tokens"].text += usage.reasoning + usage.separateReasoning;
}

function tokenSum(all: readonly Counts[], name: (typeof tokenNames)[number]): ReportedMetric {
  return {
    ...{
      name: `gen_ai.client.inference.usage.${name}`,
      unit: "{token}",
      help: "Tokens used.",
      type: "counter",
    },
    points: all.flatMap(({ attributes, tokens }) =>
      modalities
        .filter((modality) => tokens[name][modality] > 0)
        .map((modality) => ({
          labels: { ...attributes, "gen_ai.token.modality": modality },
          value: tokens[name][modality],
        })),
    ),
  };
}

/** Input and output as one histogram, as the conventions had it before 1.42. */
function oldTokenUsage(all: readonly Counts[]): ReportedMetric {
  const points = all.flatMap(({ attributes, input, output }) => [
    { labels: { ...attributes, "gen_ai.token.type": "input" }, value: input },
    { labels: { ...attributes, "gen_ai.token.type": "output" }, value: output },
  ]);
  return {
    ...{ name: "gen_ai.client.token.usage", unit: "{token}", help: "Tokens of an attempt.", type: "histogram" },
    points: points.filter(({ value }) => value.count > 0),
  };
}
