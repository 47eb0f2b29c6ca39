import { expect, test } from "bun:test";
import { boundsFile, countByFolder, readPhrases, retiredNames } from "./phrases.ts";

const { hits, lines } = readPhrases();

test("no folder has more phrases that the style forbids than its bound; `bun gateway/test/phrases.ts FOLDER` lists them", async () => {
  const bounds: Record<string, number> = await Bun.file(boundsFile).json();
  const tooMany = Object.entries(countByFolder(hits))
    .filter(([folder, count]) => count > (bounds[folder] ?? 0))
    .map(([folder, count]) => `${folder}: ${count}, at most ${bounds[folder] ?? 0}`);
  expect(tooMany).toEqual([]);
});

test("every folder with a bound is read", async () => {
  const bounds: Record<string, number> = await Bun.file(boundsFile).json();
  expect(Object.keys(bounds).filter((folder) => !lines.has(folder))).toEqual([]);
});

test("retired names do not come back", () => {
  expect(retiredNames(hits)).toEqual([]);
});
