import { bounds, type LedgerEntry } from "#core/index.ts";
import type { ReportedMetric, ReportedPoint } from "../metric-reports.ts";
import { Distribution, Series } from "../tally.ts";
import { errorTypeOf, operationOf, providerNameOf, tokenCounts } from "./gen-ai-names.ts";
import { serverAttributes, type UpstreamFacts } from "./span-attributes.ts";

type Attributes = ReportedPoint["labels"];

/** Everything that is counted for one provider, model and operation. */
type Pair = ReturnType<typeof pairOf>;

const tokenNames = [
  "input_tokens",
  "output_tokens",
  "cache_read.input_tokens",
  "cache_write.input_tokens",
  "reasoning.output_tokens",
] as const;
const modalities = ["text", "audio", "image"] as const;

/** The conventions' own boundaries: seconds, 0.01 doubled to 81.92, and tokens, 1 times four to 67,108,864. */
const secondBoundaries = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);
const tokenBoundaries = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** The metrics of OpenTelemetry's GenAI conventions, from the same entries that the ledger keeps; no label is a caller's. */
export class GenAiMetrics {
  readonly #pairs: Series<string, Pair>;
  readonly #oldNames: boolean;
  #last: (Pick<LedgerEntry, "provider" | "upstreamModel" | "endpoint"> & { readonly pair: Pair }) | null = null;

  constructor(upstreamOf: (provider: string) => UpstreamFacts | null, oldNames: boolean) {
    this.#oldNames = oldNames;
    this.#pairs = new Series(bounds.metricPairsMax, (key: string) => pairOf(key, upstreamOf));
  }

  /** What was refused went to nobody. */
  attemptEnd(entry: LedgerEntry): void {
    if (entry.outcome === "rejected" || entry.provider === "") return;
    const pair = this.#pairOf(entry);
    pair.durations.of(errorTypeOf(entry) ?? "").seconds.observe(entry.totalMs / 1_000);
    if (entry.stream) {
      const firstMs = entry.firstTokenMs ?? entry.firstByteMs;
      if (firstMs !== null) {
        pair.firstChunk.observe(firstMs / 1_000);
        pair.callerFirstToken.observe((entry.startedAfterMs + firstMs) / 1_000);
      }
    }
    if (entry.usageSource !== "none") countTokens(pair, entry);
  }

  /** The next one is often of the same. */
  #pairOf(entry: LedgerEntry): Pair {
    const last = this.#last;
    const { provider, upstreamModel, endpoint } = entry;
    if (last?.provider === provider && last.upstreamModel === upstreamModel && last.endpoint === endpoint) {
      return last.pair;
    }
    // By the operation and not by the endpoint: series of one metric are told apart by their attributes alone.
    const pair = this.#pairs.of(`${provider}\n${upstreamModel}\n${operationOf(endpoint)}`);
    this.#last = { provider, upstreamModel, endpoint, pair };
    return pair;
  }

  /** What was counted so far. */
  measured(): readonly ReportedMetric[] {
    const all = this.#pairs.made();
    const durations = all.flatMap((pair) =>
      pair.durations.made().map(({ attributes, seconds }) => ({ labels: attributes, value: seconds })),
    );
    const duration = (name: string): ReportedMetric => ({
      ...{ name, unit: "s", help: "Duration of an attempt.", type: "histogram" },
      points: durations,
    });
    return [
      duration("gen_ai.client.inference.duration"),
      ...distributions.map(([name, of, unit, help]) => ({
        ...{ name, unit, help, type: "histogram" as const },
        points: all.filter((pair) => pair[of].count > 0).map((pair) => ({ labels: pair.attributes, value: pair[of] })),
      })),
      ...tokenNames.map((name) => tokenSum(all, name)),
      ...(this.#oldNames ? [duration("gen_ai.client.operation.duration"), oldTokenUsage(all)] : []),
    ];
  }
}

const distributions = [
  ["gen_ai.client.inference.time_to_first_chunk", "firstChunk", "s", "Time to the first piece of a stream."],
  [
    "gen_ai.server.time_to_first_token",
    "callerFirstToken",
    "s",
    "Time from a call's arrival here to the first piece of its stream.",
  ],
  ["gen_ai.client.inference.operation.input_tokens", "input", "{token}", "Input tokens of an attempt."],
  ["gen_ai.client.inference.operation.output_tokens", "output", "{token}", "Output tokens of an attempt."],
] as const;

function pairOf(key: string, upstreamOf: (provider: string) => UpstreamFacts | null) {
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

function countTokens(pair: Pair, { usage }: LedgerEntry): void {
  const { input, output } = tokenCounts(usage);
  pair.input.observe(input);
  pair.output.observe(output);
  const { tokens } = pair;
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

function tokenSum(all: readonly Pair[], name: (typeof tokenNames)[number]): ReportedMetric {
  return {
    ...{
      name: `gen_ai.client.inference.usage.${name}`,
      unit: "{token}",
      help: "Tokens that were used.",
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

/** As it was before 1.42, with the input and the output as one histogram. */
function oldTokenUsage(all: readonly Pair[]): ReportedMetric {
  const points = all.flatMap(({ attributes, input, output }) => [
    { labels: { ...attributes, "gen_ai.token.type": "input" }, value: input },
    { labels: { ...attributes, "gen_ai.token.type": "output" }, value: output },
  ]);
  return {
    ...{ name: "gen_ai.client.token.usage", unit: "{token}", help: "Tokens of an attempt.", type: "histogram" },
    points: points.filter(({ value }) => value.count > 0),
  };
}
