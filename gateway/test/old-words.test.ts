import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";

const root = join(import.meta.dir, "..", "..");
const folders = [
  "gateway/src",
  "gateway/test",
  "console/src",
  "console/e2e",
  "contract/src",
  "simulator",
  "test",
  "bench",
  "scripts",
];

/** Names that this code had before it took the field's. They must not come back as parts of names, of code or of files. */
const old =
  /\b\w*(?:House(?=[A-Z\b]|\b)|Doer|Wishes|Keepers\b|KeptCall|Unwell|ReportDesk|BackgroundBill|planLegs|readLook|nothingRead|HttpFace)\w*\b/g;
/** The same as whole names: of values, parameters, members and types. In sentences they may stand. */
const oldNames =
  /\b(?:const|let|function|type|interface|class|readonly|async|get|set) +#?(wish|wishes|house|roof|rim|faces?|\w*Face|[dD]oors?|legs?|doer|studio|supply|unwell|tells|well|Way|wishOf)\b|(?:^|[(,{] ?)(wish|wishes|house|roof|rim|door|leg|doer|studio|supply|unwell|tells|well)(?=(?:\??: [A-Z"{(]|, \w+: | =>|\) =>))/gm;
const oldFiles =
  /(?:^|[/-])(?:house|doer|wishes|keepers?|studio|unwell|faces?|supply|room|rim|roof|doors?|tells)(?:[-.]|$)/;

test("names are the field's, not those that were here before", async () => {
  const found: string[] = [];
  for (const folder of folders) {
    for await (const file of new Glob("**/*.{ts,tsx,mjs,css}").scan(join(root, folder))) {
      const path = `${folder}/${file}`;
      if (path.includes("node_modules/") || path.includes("/dist/") || path === "gateway/test/old-words.test.ts")
        continue;
      if (oldFiles.test(path) && !kept.has(path)) found.push(path);
      const text = await Bun.file(join(root, path)).text();
      const declared = [...text.matchAll(oldNames)].map((match) => match[1] ?? match[2] ?? "");
      found.push(...[...(text.match(old) ?? []), ...declared].map((name) => `${path}: ${name}`));
    }
  }
  expect(found).toEqual([]);
});

/** Room as space, which has a bound. */
const kept = new Set(["gateway/src/api/body-room.ts", "gateway/src/protocols/request/media.ts"]);
