// Fails when the price list that comes with the program is older than thirty days:
// node scripts/check-price-list.mjs [day of the release, default today: 2026-11-24]
import { readFileSync } from "node:fs";
import { join } from "node:path";

const daysMax = 30;
const file = join(import.meta.dirname, "../gateway/src/providers/price-list/bundled-price-list.generated.json");
const { source, published } = JSON.parse(readFileSync(file, "utf8"));
const day = process.argv[2] ?? new Date().toISOString().slice(0, 10);
const days = (Date.parse(day) - Date.parse(published)) / 86_400_000;
if (!(days <= daysMax)) {
  console.error(`${source} of ${published} is ${days} days old on ${day}; at most ${daysMax} are allowed.`);
  console.error("Take a newer wheel of genai-prices: gateway/test/write-price-list.ts says how.");
  process.exitCode = 1;
} else console.log(`${source} of ${published} is ${days} days old on ${day}.`);
