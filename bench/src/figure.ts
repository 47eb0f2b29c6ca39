import { type Spread, spread } from "./statistics.ts";

/** One line of the table: a measurement with its target. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** null: not measured; the note has the reason. */
  readonly measured: Spread | null;
  readonly target: Target | null;
  /** The values that it was calculated from. */
  readonly note: string;
}

type Target = { readonly most: number } | { readonly least: number };

export type Verdict = "ok" | "missed" | "no target" | "not measured";

export function verdict({ measured, target }: Figure): Verdict {
  if (measured === null) return "not measured";
  if (target === null) return "no target";
  return ("most" in target ? measured.median <= target.most : measured.median >= target.least) ? "ok" : "missed";
}

export interface FigureParts {
  readonly unit: string;
  readonly target?: Target | null;
  readonly note?: string;
}

export function figure(name: string, samples: readonly number[], parts: FigureParts): Figure {
  const finite = samples.filter(Number.isFinite);
  return { name, measured: spread(finite), unit: parts.unit, target: parts.target ?? null, note: parts.note ?? "" };
}

/** Ratio of each pair of samples, because the two were measured right after each other. Empty if the second ones are missing. */
export function ratios(over: readonly number[], under: readonly number[]): number[] {
  return under.map((value, index) => (over[index] ?? Number.NaN) / value).filter(Number.isFinite);
}

export function differences(of: readonly number[], from: readonly number[]): number[] {
  return from.map((value, index) => (of[index] ?? Number.NaN) - value).filter(Number.isFinite);
}

/** Formats a number with three significant digits, or more for large numbers. */
export function formatNumber(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The median of samples, for a note. */
export function medianText(samples: readonly number[]): string {
  return formatNumber(spread(samples)?.median);
}
