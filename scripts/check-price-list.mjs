// Fails if the bundled price list is more than thirty days old:
// node scripts/check-price-list.mjs [date of the release, such as 2026-11-24; default today]
import { readFileSync } from "node:fs";
import { join } from "node:path";

const daysMax = 30;
const file = join(import.meta.dirname, "../gateway/src/providers/price-list/bundled-price-list.generated.json");
const { source, published } = JSON.parse(readFileSync(file, "utf8"));
const day = process.argv[2] ?? new Date().toISOString().slice(0, 10);
const days = (Date.parse(day) - Date.parse(published)) / 86_400_000;
if (!(days <= daysMax)) {
  console.error(`${source} of ${published} is ${days} days old on ${day}; at most ${daysMax} days are allowed.`);
  console.error("Update it from a newer genai-prices wheel; see gateway/test/write-price-list.ts.");
  process.exitCode = 1;
} else console.log(`${source} of ${published} is ${days} days old on ${day}.`);
