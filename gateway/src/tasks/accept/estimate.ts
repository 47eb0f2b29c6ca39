import {
  costOf,
  type NanoUsd,
  noUsage,
  type PriceTable,
  type TaskRequest,
  type Usage,
  type VideoCapabilities,
} from "#core/index.ts";

/** What vendors make when nobody says how long, unless an adapter knows better. */
const defaultSeconds = 5;

/** What vendors make at most when nobody says how long, where they leave that open. */
const unsaidSecondsMax = 8;
const freeSecondsMax = 15;
/** And how large. */
const unsaidLinesMax = 1_080;

/**
 * The most that the task may cost, which is held until it ends: what the caller left to the vendor is taken to be the longest
 * and largest that the vendor makes by itself, as far as the deployments take it.
 */
export function heldCost(
  prices: PriceTable | null,
  asked: TaskRequest,
  takes: readonly Pick<VideoCapabilities, "durations" | "durationMax" | "resolutions">[],
): NanoUsd {
  if (prices === null) return 0;
  const longest = Math.max(0, ...takes.flatMap(({ durations, durationMax }) => [...durations, durationMax ?? 0]));
  const free =
    asked.durationSeconds !== null
      ? longest || freeSecondsMax
      : Math.min(longest || unsaidSecondsMax, unsaidSecondsMax);
  const seconds = asked.durationSeconds !== null && asked.durationSeconds > 0 ? asked.durationSeconds : free;
  const lines = takes.flatMap(({ resolutions }) => resolutions.map(linesOf)).filter((each) => each <= unsaidLinesMax);
  const resolution = asked.resolution ?? (lines.length === 0 ? null : `${Math.max(...lines)}p`);
  return costOf(prices, estimatedUsage({ ...asked, durationSeconds: Math.max(seconds, 1), resolution }));
}

/** Seconds and tokens, for tables that price the one or the other. `usualSeconds`: what the vendor makes unasked. */
export function estimatedUsage(asked: TaskRequest, usualSeconds: number = defaultSeconds): Usage {
  const videoSeconds = secondsOf(asked, usualSeconds);
  return { ...noUsage, videoSeconds, output: tokensFor(asked, videoSeconds) };
}

/** A length that the vendor decides itself is taken for the usual one. */
function secondsOf(asked: TaskRequest, usualSeconds: number): number {
  return asked.durationSeconds !== null && asked.durationSeconds > 0 ? asked.durationSeconds : usualSeconds;
}

/**
 * Seedance counts about width × height × frames a second × seconds / 1024 tokens, 24 frames a second (reference: general
 * knowledge of Ark's price page, U). Good enough to reserve; what is paid is what the vendor reports.
 */
function tokensFor(asked: TaskRequest, seconds: number): number {
  const { width, height } = sizeOf(asked);
  return Math.ceil((width * height * framesPerSecond * seconds) / 1_024);
}

const framesPerSecond = 24;

/** The resolution counts the lines of a 16:9 picture; other ratios have about the same area. */
function sizeOf({ resolution, ratio }: TaskRequest): { readonly width: number; readonly height: number } {
  const lines = linesOf(resolution ?? "720p");
  const area = lines * lines * (16 / 9);
  const [across, down] = (ratio ?? "16:9").split(":").map(Number);
  const shape = across !== undefined && down !== undefined && across > 0 && down > 0 ? across / down : 16 / 9;
  const height = Math.sqrt(area / shape);
  return { width: Math.round(height * shape), height: Math.round(height) };
}

function linesOf(resolution: string): number {
  const count = Number.parseInt(resolution, 10);
  return resolution.endsWith("k") ? count * 540 : count;
}
