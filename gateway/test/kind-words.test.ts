import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kindForm, providerKinds } from "#providers/index.ts";
import { kinds as english } from "../../console/src/language/en/kinds.ts";
import { kinds as chinese } from "../../console/src/language/zh-CN/kinds.ts";

type Words = Readonly<Record<string, unknown>>;

/** Every text that a kind's form shows: where the catalogue has it, and what the gateway says. */
const shown = providerKinds.flatMap((kind): readonly (readonly [path: string, said: string])[] => {
  const form = kindForm(kind);
  const own = `kind.${kind.id}`;
  const fields = form.fields.flatMap((field) => {
    const place = at(english, `${own}.setting.${field.name}.label`) === null ? "" : `${own}.`;
    const path = `${place}setting.${field.name}`;
    return [[`${path}.label`, field.label] as const, ...text(`${path}.help`, field.help)];
  });
  return [...text(`${own}.baseUrl`, form.baseUrlHelp), ...text(`${own}.apiKey`, form.apiKeyHelp), ...fields];
});

test("every setting of every kind has a label and a help in the console's catalogue, in the gateway's own words", () => {
  const told = shown.map(([path]) => [path, at(english, path)]);
  expect(told).toEqual(shown.map(([path, said]) => [path, said]));
});

test("and in Chinese", () => {
  const silent = shown
    .map(([path]) => path)
    .filter((path) => !/\p{Script=Han}/u.test(at(chinese, path) ?? "") && !sameInChinese.test(path));
  expect(silent).toEqual([]);
});

/** Consoles of clouds call these so in Chinese too. */
const sameInChinese = /\.(?:access_key|access_key_id|secret_access_key)\.label$/;

test("the catalogue names no kind and no setting that is gone", () => {
  const ids = new Set<string>(providerKinds.map(({ id }) => id));
  expect(Object.keys(english.kind).filter((kind) => !ids.has(kind))).toEqual([]);
  const names = new Set(providerKinds.flatMap((kind) => kindForm(kind).fields.map(({ name }) => name)));
  expect(Object.keys(english.setting).filter((name) => !names.has(name))).toEqual([]);
});

function text(path: string, said: string | null): readonly (readonly [string, string])[] {
  return said === null ? [] : [[path, said]];
}

/** null: nothing stands there. */
function at(words: Words, path: string): string | null {
  let found: unknown = words;
  for (const name of path.split(".")) found = (found as Words | undefined)?.[name];
  // Braces that are no placeholders are quoted in the catalogue.
  return typeof found === "string" ? found.replace(/'(\{[^']*\})'/g, "$1") : null;
}

test("the pages list every kind of provider, and count them", () => {
  const pageOf = (name: string): string => readFileSync(join(import.meta.dir, "../..", name), "utf8");
  const row = /^\| `kind` \| required \|(.*)\|$/m.exec(pageOf("docs/configuration.md"))?.[1] ?? "";
  const listed = [...row.matchAll(/`([\w-]+)`/g)].map(([, kind]) => kind ?? "");
  expect(listed.toSorted()).toEqual(providerKinds.map(({ id }) => id as string).toSorted());
  for (const page of ["README.md", "docs/quickstart.md"]) {
    expect([page, /(\d+) kinds/.exec(pageOf(page))?.[1]]).toEqual([page, String(providerKinds.length)]);
  }
});
