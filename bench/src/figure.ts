import { type Spread, spread } from "./statistics.ts";

/** One line of the table: what was measured, what it should be, and whether it is. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  /** Null: not measured here; the note says why. */
  readonly measured: Spread | null;
  readonly target: Target | null;
  /** The parts it was computed from, in words and numbers. */
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

/** Sample by sample, because the two were taken one right after the other. Empty where the second is missing. */
export function ratios(over: readonly number[], under: readonly number[]): number[] {
  return under.map((value, index) => (over[index] ?? Number.NaN) / value).filter(Number.isFinite);
}

export function differences(of: readonly number[], from: readonly number[]): number[] {
  return from.map((value, index) => (of[index] ?? Number.NaN) - value).filter(Number.isFinite);
}

/** A number for people: three digits that matter, more where the number is large. */
export function say(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The median of samples, for a note. */
export function middle(samples: readonly number[]): string {
  return say(spread(samples)?.median);
}
