import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { type ShownWords, shownWords } from "./shown-words.ts";

const source = join(import.meta.dir, "..");

/** Folders whose words are still in their files. Only to get shorter. */
const notYet = ["api/", "client/", "components/", "features/", "routes/", "session/", "shell/"];

/** What looks like words and is none: programs, samples of bodies, names. Each says what it is. */
const exceptions: Readonly<Record<string, readonly string[]>> = {};

test("whatever is shown stands in the catalogue", async () => {
  const found: string[] = [];
  for await (const file of new Glob("**/*.{ts,tsx}").scan(source)) {
    if (/\.test\.tsx?$/.test(file) || /^language\/(?:en\/|zh-CN\/|shown-words)/.test(file)) continue;
    if (notYet.some((folder) => file.startsWith(folder))) continue;
    const allowed = exceptions[file] ?? [];
    const told = shownWords(file, await Bun.file(join(source, file)).text());
    found.push(
      ...told.filter(({ text }) => !allowed.includes(text)).map(({ line, text }) => `${file}:${line} ${text}`),
    );
  }
  expect(found).toEqual([]);
});

test.each([
  ["text between tags", "<p>Hello</p>", ["Hello"]],
  ["a label", '<Button label="save" />', ["save"]],
  ["a choice that is drawn", '<p>{x ? "none" : y && `many`}</p>', ["none", "many"]],
  ["a sentence anywhere", 'const told = "Nothing was found";', ["Nothing was found"]],
  ["a word with a capital", 'const columns = [{ header: "Name" }];', ["Name"]],
  ["a sentence with a value in it", "const told = `for $" + "{n} more days`;", ["for", "more days"]],
  ["a text of the catalogue, a class, a code, an error of ours", '<p className="a b" id="x">{t("keys.title")}</p>', []],
  ["what only we see", 'throw new Error("Nothing is there");', []],
  ["what is compared", 'if (event.key === "Escape") leave();', []],
] as const)("%s", (_, code, words) => {
  expect(shownWords("some.tsx", code).map(({ text }: ShownWords) => text)).toEqual([...words]);
});
