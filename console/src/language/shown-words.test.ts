import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { type ShownWords, shownWords } from "./shown-words.ts";

const source = join(import.meta.dir, "..");

/** Folders whose words are still in their files. Only to get shorter. */
const notYet = ["features/", "session/", "shell/"];

/** What looks like words and is none: programs, samples of bodies, names. Each says what it is. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  "client/problem.ts": ["Problem"],
  // Programs in other languages, and the names of programs.
  "components/snippet-texts.ts": [
    "Hello",
    "const answer = await client.chat.completions.create({",
    "def fib(n):",
    "answer = client.completions.create(model=",
    "const answer = await client.completions.create({",
    "A lighthouse at dawn",
    "answer = client.images.generate(model=",
    ', prompt="A lighthouse at dawn", size="1024x1024")',
    "const answer = await client.images.generate({ model:",
    ', prompt: "A lighthouse at dawn", size: "1024x1024" });',
    ', "prompt": "A lighthouse at dawn", "ratio": "16:9", "duration": 5,',
    'const task = await client.post("/video/tasks", {',
    ', prompt: "A lighthouse at dawn", ratio: "16:9", duration: 5 },',
    "answer = client.embeddings.create(model=",
    "const answer = await client.embeddings.create({ model:",
    "Where do ships go?",
    "answer = client.moderations.create(model=",
    "const answer = await client.moderations.create({ model:",
    "answer = client.audio.transcriptions.create(model=",
    "const answer = await client.audio.transcriptions.create({ model:",
    "A lighthouse at dawn.",
    "answer = client.audio.speech.create(model=",
    ', input="A lighthouse at dawn.", voice="alloy")',
    "const answer = await client.audio.speech.create({ model:",
    ', input: "A lighthouse at dawn.", voice: "alloy" });',
    'await writeFile("speech.mp3", Buffer.from(await answer.arrayBuffer()));',
    '"authorization: Bearer $',
    "authorization: Bearer",
    "curl",
    "import os",
    "from openai import OpenAI",
    "client = OpenAI(base_url=",
    "Python",
    'import OpenAI from "openai";',
    "const client = new OpenAI({ baseURL:",
    "export ANTHROPIC_BASE_URL=",
    "export ANTHROPIC_AUTH_TOKEN=",
    "export ANTHROPIC_MODEL=",
    "export ANTHROPIC_DEFAULT_HAIKU_MODEL=",
    "Claude Code",
    "model =",
    "export",
    "Codex",
    "export OPENAI_BASE_URL=",
    "export OPENAI_API_KEY=",
    "# then ask for the model",
  ],
};

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
