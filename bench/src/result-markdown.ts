import { type Figure, formatNumber, verdict } from "./figure.ts";

/**
 * Prints a result of `npm run bench` as the tables of docs/performance.md:
 * `bun bench/src/result-markdown.ts bench/results/….json`
 */
const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("pass a result: bun bench/src/result-markdown.ts bench/results/….json");
const { figures, seconds = {}, failed = [] }: Result = await Bun.file(file).json();
const [ours, theirs] = [figures.filter((one) => peerOf(one) === null), figures.filter((one) => peerOf(one) !== null)];
console.log(row(["figure", "target", "measured", ""]));
console.log("|---|---|---|---|");
for (const one of ours) console.log(row([one.name, targetOf(one), measuredOf(one), verdictOf(one)]));
if (theirs.length > 0) console.log(`\n${peerTable(theirs)}`);
const took = Object.entries(seconds).map(([name, each]) => `${name} ${each} s`);
console.log(`\n${took.join(", ")}${failed.length === 0 ? "" : `; failed: ${failed.join(", ")}`}`);

interface Result {
  readonly figures: readonly Figure[];
  readonly seconds?: Readonly<Record<string, number>>;
  readonly failed?: readonly string[];
}

/** Column and gateway of a figure that compares gateways. */
function peerOf({ name }: Figure): { readonly column: string; readonly who: string } | null {
  const found = /^((?:.+, )?CPU per (?:call|streamed event)|Added latency.*, p50|Memory afterwards): (.+)$/.exec(name);
  const [, column, who] = found ?? [];
  return column === undefined || who === undefined ? null : { column, who };
}

function peerTable(all: readonly Figure[]): string {
  const columns = [...new Set(all.map((one) => peerOf(one)?.column ?? ""))];
  const names = [...new Set(all.map((one) => peerOf(one)?.who ?? ""))];
  const cell = (who: string, column: string): string => {
    const one = all.find((each) => peerOf(each)?.who === who && peerOf(each)?.column === column);
    if (one === undefined) return "";
    const p99 = /p99 ([\d.,−-]+)/.exec(one.note)?.[1];
    const latency = column.startsWith("Added latency") && p99 !== undefined ? ` / ${p99}` : "";
    return one.measured === null ? "fails" : short(one.measured.median, one.unit, latency);
  };
  return [
    row(["", ...columns]),
    `|${"---|".repeat(columns.length + 1)}`,
    ...names.map((who) => row([who, ...columns.map((column) => cell(who, column))])),
  ].join("\n");
}

function short(value: number, unit: string, more: string): string {
  return unit === "µs" && value >= 1_000
    ? `${formatNumber(value / 1_000)} ms`
    : `${formatNumber(value)}${more} ${unit}`;
}

function targetOf({ target, unit }: Figure): string {
  if (target === null) return "";
  return "most" in target ? `≤ ${targetText(target.most)} ${unit}` : `≥ ${targetText(target.least)} ${unit}`;
}

/** Formats a target without trailing zeros. */
function targetText(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: value >= 100 ? 0 : 2 });
}

function measuredOf({ measured, unit, note }: Figure): string {
  if (measured === null) return note;
  const range = measured.samples.length < 2 ? "" : `${formatNumber(measured.min)}–${formatNumber(measured.max)}`;
  const more = [range, note].filter((part) => part !== "").join("; ");
  return `${formatNumber(measured.median)} ${unit}${more === "" ? "" : ` (${more})`}`;
}

function verdictOf(one: Figure): string {
  const found = verdict(one);
  return found === "no target" ? "" : found;
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
