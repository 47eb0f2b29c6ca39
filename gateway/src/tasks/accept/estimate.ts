import {
  costOf,
  type NanoUsd,
  noUsage,
  type PriceTable,
  type TaskRequest,
  type Usage,
  type VideoCapabilities,
} from "#core/index.ts";

/** The vendors' default length, unless an adapter has another. */
const defaultSeconds = 5;

/** The longest and largest default of any vendor. */
const defaultSecondsMax = 8;
const autoSecondsMax = 15;
const defaultLinesMax = 1_080;

/**
 * The most that the task may cost; held until it ends. A value that the caller omits counts as the largest default that the
 * deployments allow.
 */
export function reservedCost(
  prices: PriceTable | null,
  params: TaskRequest,
  capabilities: readonly Pick<VideoCapabilities, "durations" | "durationMax" | "resolutions">[],
): NanoUsd {
  if (prices === null) return 0;
  const longest = Math.max(
    0,
    ...capabilities.flatMap(({ durations, durationMax }) => [...durations, durationMax ?? 0]),
  );
  const longestDefault =
    params.durationSeconds !== null
      ? longest || autoSecondsMax
      : Math.min(longest || defaultSecondsMax, defaultSecondsMax);
  const seconds =
    params.durationSeconds !== null && params.durationSeconds > 0 ? params.durationSeconds : longestDefault;
  const lines = capabilities
    .flatMap(({ resolutions }) => resolutions.map(linesOf))
    .filter((each) => each <= defaultLinesMax);
  const resolution = params.resolution ?? (lines.length === 0 ? null : `${Math.max(...lines)}p`);
  return costOf(prices, estimatedUsage({ ...params, durationSeconds: Math.max(seconds, 1), resolution }));
}

/** Usage in seconds and tokens, for prices in either unit. `usualSeconds` is the vendor's default length. */
export function estimatedUsage(params: TaskRequest, usualSeconds: number = defaultSeconds): Usage {
  const { durationSeconds } = params;
  const videoSeconds = durationSeconds !== null && durationSeconds > 0 ? durationSeconds : usualSeconds;
  return { ...noUsage, videoSeconds, output: tokensFor(params, videoSeconds) };
}

/**
 * Seedance: width × height × 24 frames a second × seconds / 1024 tokens (from general knowledge of Ark's price page). For
 * holds; the charge uses the vendor's own count.
 */
function tokensFor(params: TaskRequest, seconds: number): number {
  const { width, height } = sizeOf(params);
  return Math.ceil((width * height * framesPerSecond * seconds) / 1_024);
}

const framesPerSecond = 24;

/** `resolution` is the height of a 16:9 picture; other ratios have about the same area. */
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
