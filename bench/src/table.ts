import { type Figure, formatNumber, verdict } from "./figure.ts";

/** Formats the figures for a terminal. */
export function table(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    targetOf(figure),
    medianOf(figure),
    rangeOf(figure),
    verdict(figure),
  ]);
  const head = ["figure", "target", "measured", "min–max", ""];
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd();
  const rule = "─".repeat(widths.reduce((sum, width) => sum + width + 2, -2));
  const body = rows.flatMap((row, index) => [line(row), ...noteOf(figures[index])]);
  return [line(head), rule, ...body].join("\n");
}

function noteOf(figure: Figure | undefined): string[] {
  return figure === undefined || figure.note === "" ? [] : [`    ${figure.note}`];
}

function targetOf({ target, unit }: Figure): string {
  if (target === null) return "–";
  return "most" in target ? `≤ ${formatNumber(target.most)} ${unit}` : `≥ ${formatNumber(target.least)} ${unit}`;
}

function medianOf({ measured, unit }: Figure): string {
  return measured === null ? "–" : `${formatNumber(measured.median)} ${unit}`;
}

function rangeOf({ measured }: Figure): string {
  return measured === null || measured.samples.length < 2
    ? ""
    : `${formatNumber(measured.min)}–${formatNumber(measured.max)}`;
}
