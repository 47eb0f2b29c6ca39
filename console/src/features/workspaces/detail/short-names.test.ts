import { expect, test } from "bun:test";
import { shortNames } from "./short-names.ts";

test("names with a common start are shortened to what differs", () => {
  expect(shortNames(["acme-research/experiment-0001-mini", "acme-research/experiment-0002-mini", "gpt-5"])).toEqual([
    "…0001-mini",
    "…0002-mini",
    "gpt-5",
  ]);
  expect(shortNames(["gpt-5-mini", "short"])).toEqual(["gpt-5-mini", "short"]);
  expect(shortNames([])).toEqual([]);
});

test("several families of long names stay distinguishable", () => {
  expect(
    shortNames([
      "acme-research/experiment-0001-mini",
      "acme-research/experiment-0002-mini",
      "globex-corporation/assistant-large",
      "globex-corporation/assistant-small",
      "a-name-of-its-own-that-is-long",
    ]),
  ).toEqual(["…0001-mini", "…0002-mini", "…large", "…small", "a-name-of-…t-is-long"]);
});

test("a thousand long names with common starts and ends stay distinct and short", () => {
  const names = Array.from({ length: 1_000 }, (_, at) =>
    `acme-research/experiment-${String(at).padStart(4, "0")}-mini`.padEnd(60, "-and-longer-than-anybody-would-call-it"),
  );
  const middle = names.map((_, at) => `${"a".repeat(30)}${String(at).padStart(4, "0")}${"z".repeat(26)}`);
  for (const each of [names, middle]) {
    const short = shortNames(each);
    expect(new Set(short).size).toBe(each.length);
    expect(Math.max(...short.map((name) => name.length))).toBeLessThanOrEqual(21);
  }
});

test("names of rows are cut against each other too", () => {
  const rows = ["amelia.andersson laptop 0", "amelia.andersson laptop 1", "amelia.andersson notebook", "ci"];
  const short = shortNames(rows, 24);
  expect(new Set(short).size).toBe(rows.length);
  expect(short.at(-1)).toBe("ci");
});
