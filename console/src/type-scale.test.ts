import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";

const scaleFile = "styles/type.css";
const scale = new Set(
  (await Bun.file(join(import.meta.dir, scaleFile)).text()).match(/--(?:text|leading)-[\w-]+(?=:)/g),
);

const stylePatterns = [
  /(?<![\w-])(?:font-size|--mantine-font-size-\w+|line-height): *(?<value>[^;}]+)/g,
  /(?<![\w-])font: *(?<value>[^;}]+)/g,
];
const codePatterns = [
  /\b(?:fz|lh|fontSize|lineHeight)=(?<value>"[^"]*"|\{[^}]*\})/g,
  /\b(?:fz|lh|fontSize|lineHeight): *(?<value>[^,}\n]+)/g,
  /<(?:Text|Title|Anchor|Code)\b[^>]*? size=(?<value>"[^"]*"|\{[^}]*\})/g,
];

/** Names of Mantine's sizes, which theme.ts maps to the scale, and what is taken from the surroundings. */
const names = new Set(["xs", "sm", "md", "lg", "xl", "inherit"]);
/** The initial of a vendor without a logo is a picture; the badge of the inbox must not add height to its line. */
const exceptions = new Set(["vendor-logo.tsx size * 0.6", "inbox-bell.tsx 0"]);

function isOnScale(value: string): boolean {
  return names.has(value) || scale.has(/^var\((--[\w-]+)\)$/.exec(value)?.[1] ?? "");
}

function strayValues(file: string, text: string): readonly string[] {
  return (file.endsWith(".css") ? stylePatterns : codePatterns)
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .map(({ groups }) => (groups?.["value"] ?? "").replace(/^[{"\s]+|[}"\s]+$/g, ""))
    .filter((value) => !isOnScale(value) && !exceptions.has(`${file.split("/").at(-1)} ${value}`))
    .map((value) => `${file}: ${value}`);
}

test("every font size and line height is on the scale of styles/type.css", async () => {
  const stray: string[] = [];
  for await (const file of new Glob("**/*.{css,ts,tsx}").scan(import.meta.dir)) {
    if (file === scaleFile || file.endsWith(".test.ts")) continue;
    stray.push(...strayValues(file, await Bun.file(join(import.meta.dir, file)).text()));
  }
  expect(stray).toEqual([]);
});

test.each([
  ["a.css", ".a { font-size: 13px; }", ["a.css: 13px"]],
  ["a.css", ".a { font-size: var(--text-missing) }", ["a.css: var(--text-missing)"]],
  ["a.css", ".a { font: 600 1rem/1.2 serif; line-height: 1.2; }", ["a.css: 1.2", "a.css: 600 1rem/1.2 serif"]],
  ["a.css", ".a { font: inherit; font-size: var(--text-body); line-height: var(--leading-text); }", []],
  ["a.tsx", "<Text fz={13} lh={1.2}>", ["a.tsx: 13", "a.tsx: 1.2"]],
  ["a.tsx", '<Text c="dimmed" size="0.8rem">', ["a.tsx: 0.8rem"]],
  ["a.tsx", "style={{ fontSize: 12, color }}", ["a.tsx: 12"]],
  ["a.tsx", '<Text fz="xs" lh="var(--leading-tight)"><Icon size={14} /></Text>', []],
])("finds stray values: %s %s", (file, text, stray) => {
  expect(strayValues(file, text)).toEqual(stray);
});
