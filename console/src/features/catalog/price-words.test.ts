import { expect, test } from "bun:test";
import { classLabel, isUnpriced, priceItems, priceRank, priceWords, unitPriceWords } from "./price-words.ts";

test("a short price shows input and output, or the price per image or second", () => {
  expect(priceWords({ input: 2.5, output: 10, cache_read: 0.25 })).toEqual({
    amount: "$2.50 in · $10.00 out",
    unit: "per million tokens",
  });
  expect(priceWords({ input: 0.075 })?.amount).toBe("$0.075 in");
  expect(priceWords({ image: 0.04 })).toEqual({ amount: "$0.04", unit: "per image" });
  expect(priceWords({ video: 0.1 })).toEqual({ amount: "$0.10", unit: "per second" });
  expect(priceWords({ input: 5, image_output: 40 })?.amount).toBe("$5.00 in · $40.00 out");
});

test("video prices that depend on the resolution show as a range", () => {
  expect(priceWords({ video: 0.1, variants: [{ resolution: "1080p", video: 0.3 }] })?.amount).toBe("$0.10 to $0.30");
  expect(priceWords({ variants: [{ audio: true, output: 16 }, { output: 8 }] })?.amount).toBe("$8.00 to $16.00 out");
});

test("a price of zero counts as priced, a price without figures does not", () => {
  expect(priceWords({ input: 0, output: 0 })).toEqual({ amount: "Free", unit: null });
  expect(
    [null, {}, { variants: [{ resolution: "720p" }] }].map((price) => [isUnpriced(price), priceWords(price)]),
  ).toEqual([
    [true, null],
    [true, null],
    [true, null],
  ]);
  expect([priceRank({ input: 1, output: 2 }), priceRank({ image: 0.5 }), priceRank(null)]).toEqual([3, 0.5, null]);
});

test("unit prices are shown as they were entered", () => {
  expect(unitPriceWords("input", 0.0000025)).toBe("$2.50 per million tokens");
  expect(unitPriceWords("cache_read", 0.1 / 1e6)).toBe("$0.10 per million tokens");
  expect(unitPriceWords("image", 0.04)).toBe("$0.04 per image");
  expect(unitPriceWords("video", 0.1)).toBe("$0.10 per second");
  expect([classLabel("cache_write_5m"), classLabel("new_class")]).toEqual(["Cache write, 5 min", "new_class"]);
});

test("every figure of a price is listed, variants with their conditions", () => {
  const price = { output: 10, input: 2.5, variants: [{ resolution: "1080p", audio: true, video: 0.4 }, { output: 7 }] };
  expect(priceItems(price).map(({ label, words }) => `${label}: ${words}`)).toEqual([
    "Input: $2.50 per million tokens",
    "Output: $10.00 per million tokens",
    "Video 1080p with sound: $0.40 per second",
    "Video: $7.00 per million tokens",
  ]);
  expect(priceItems({ image: 0.04, video: 0.1 }).map(({ words }) => words)).toEqual([
    "$0.04 per image",
    "$0.10 per second",
  ]);
  expect(priceItems(null)).toEqual([]);
});
