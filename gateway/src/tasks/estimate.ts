import { costOf, type NanoUsd, noUsage, type PriceTable, type TaskAsked, type Usage } from "#core/index.ts";

/** What vendors make when nobody says how long (Ark, Kling, Wan; the others 4 to 8). */
export const defaultSeconds = 5;

/** What the task will probably cost: what is reserved for it. */
export function estimatedCost(prices: PriceTable | null, asked: TaskAsked): NanoUsd {
  return prices === null ? 0 : costOf(prices, estimatedUsage(asked));
}

/** Seconds and tokens, for tables that price the one or the other. */
export function estimatedUsage(asked: TaskAsked): Usage {
  const videoSeconds = secondsOf(asked);
  return { ...noUsage, videoSeconds, output: tokensFor(asked, videoSeconds) };
}

/** A length that the vendor decides itself is taken for the default one. */
export function secondsOf(asked: TaskAsked): number {
  return asked.durationSeconds !== null && asked.durationSeconds > 0 ? asked.durationSeconds : defaultSeconds;
}

/**
 * Seedance counts about width × height × frames a second × seconds / 1024 tokens, 24 frames a second (reference: general
 * knowledge of Ark's price page, U). Good enough to reserve; what is paid is what the vendor reports.
 */
function tokensFor(asked: TaskAsked, seconds: number): number {
  const { width, height } = sizeOf(asked);
  return Math.ceil((width * height * framesPerSecond * seconds) / 1_024);
}

const framesPerSecond = 24;

/** The resolution counts the lines of a 16:9 picture; other ratios have about the same area. */
function sizeOf({ resolution, ratio }: TaskAsked): { readonly width: number; readonly height: number } {
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
