import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kindForm, providerKinds } from "#providers/index.ts";
import { kinds as chinese } from "../../console/src/language/zh-CN/kinds.ts";

/** The path of each form text in the console's translations. */
const shown = providerKinds.flatMap((kind): readonly string[] => {
  const form = kindForm(kind);
  const own = `kind.${kind.id}`;
  const fields = form.fields.flatMap((field) => {
    const place = at(chinese, `${own}.setting.${field.name}.label`) === null ? "" : `${own}.`;
    const path = `${place}setting.${field.name}`;
    return [`${path}.label`, ...(field.help === null ? [] : [`${path}.help`])];
  });
  const help = [
    ...(form.baseUrlHelp === null ? [] : [`${own}.baseUrl`]),
    ...(form.apiKeyHelp === null ? [] : [`${own}.apiKey`]),
  ];
  return [...help, ...fields];
});

test("every text of every provider's form has a Chinese translation", () => {
  const missing = shown.filter((path) => !/\p{Script=Han}/u.test(at(chinese, path) ?? "") && !sameInChinese.test(path));
  expect(missing).toEqual([]);
});

/** Cloud consoles use these words in Chinese too. */
const sameInChinese = /\.(?:access_key|access_key_id|secret_access_key)\.label$/;

test("the translations contain no removed type or setting", () => {
  const ids = new Set<string>(providerKinds.map(({ id }) => id));
  expect(Object.keys(chinese.kind).filter((kind) => !ids.has(kind))).toEqual([]);
  const names = new Set(providerKinds.flatMap((kind) => kindForm(kind).fields.map(({ name }) => name)));
  expect(Object.keys(chinese.setting).filter((name) => !names.has(name))).toEqual([]);
});

/** null if there is no such text. */
function at(words: object, path: string): string | null {
  let found: unknown = words;
  for (const name of path.split(".")) found = (found as Readonly<Record<string, unknown>> | undefined)?.[name];
  return typeof found === "string" ? found : null;
}

test("the documents list every provider type and count them", () => {
  const pageOf = (name: string): string => readFileSync(join(import.meta.dir, "../..", name), "utf8");
  const row = /^\| `kind` \| required \|(.*)\|$/m.exec(pageOf("docs/configuration.md"))?.[1] ?? "";
  const listed = [...row.matchAll(/`([\w-]+)`/g)].map(([, kind]) => kind ?? "");
  expect(listed.toSorted()).toEqual(providerKinds.map(({ id }) => id as string).toSorted());
  for (const page of ["README.md", "docs/quickstart.md"]) {
    expect([page, /(\d+) provider types/.exec(pageOf(page))?.[1]]).toEqual([page, String(providerKinds.length)]);
  }
});
