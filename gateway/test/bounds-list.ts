import { readFileSync } from "node:fs";
import { join } from "node:path";
import { name, product } from "./module-graph.ts";

/** Endings of names of maximums, times, sizes and other bounds. */
const endings =
  /(?:Max|Min|Ms|Bytes|Characters|Seconds|Rows|Entries|Events|Records|Tries|Parts|Batches|Hours|Days|PerSecond|Size|Rest|Tokens|Times|Choices|Kept|Threads|Dropped|Assumed|Reserved|Ahead|Slices|Tells|Usual|InboxS|MemoryMb|WhenFull|OfConnection|Postgres)$/;
const units = new Set(["minuteMs", "hourMs", "dayMs", "weekMs"]);
const constant = /^(?:export )?const (\w+)(?:: number)? =\s([^;{}[\]"`=]+);/gm;
const member = /^ {2}(\w+)(?:: (\[.*\]|[^,]+))?,$/gm;

/** Written by `bun gateway/test/bounds-list.ts`. */
export const pageOfBounds = join(import.meta.dir, "bounds.txt");

/** Every bound of the gateway with its value, sorted by name. */
export function boundsList(): string {
  const lines = product.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const found = [...text.matchAll(constant), ...(isTable(file) ? text.matchAll(member) : [])];
    return found.flatMap(([, bound = "", value = bound]) => {
      if (!endings.test(bound) || units.has(bound) || /\bnew |Buffer|Array|RawNode/.test(value)) return [];
      return [`${bound} = ${value.replaceAll(/\b\w*[bB]ounds\./g, "").replaceAll(/\s+/g, " ")}\n`];
    });
  });
  return lines.sort().join("");
}

/** The names of the bounds in core's tables. */
export function boundsOfCore(): string[] {
  return product.filter(isTable).flatMap((file) => {
    return [...readFileSync(file, "utf8").matchAll(member)].map((match) => match[1] ?? "");
  });
}

function isTable(file: string): boolean {
  return /^core\/bounds\/.*-bounds\.ts$/.test(name(file)) && name(file) !== "core/bounds/memory-bounds.ts";
}

if (import.meta.main) await Bun.write(pageOfBounds, boundsList());
