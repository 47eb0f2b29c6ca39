import { expect, test } from "bun:test";
import type { ProviderKindForm } from "@sluice/contract";
import { kinds } from "../../language/zh-CN/kinds.ts";
import { kindInWords } from "./kind-words.ts";

const chinese = new Map(textsOf({ kinds }));
const inChinese = (name: string) => chinese.get(name) ?? null;

function textsOf(words: object, above = ""): [name: string, text: string][] {
  return Object.entries(words).flatMap(([name, inner]) =>
    typeof inner === "string" ? [[above + name, inner]] : textsOf(inner, `${above}${name}.`),
  );
}

const field = (name: string, label: string, help: string | null): ProviderKindForm["fields"][number] => ({
  name,
  label,
  type: "text",
  required: false,
  help,
  placeholder: null,
  options: null,
  auths: null,
});

test("provider types and settings without a translation keep the gateway's English", () => {
  const form: ProviderKindForm = {
    kind: "newer-cloud",
    title: "Newer Cloud",
    base_url: null,
    base_url_help: "Where it is.",
    api_key: "optional",
    api_key_help: "From its console.",
    dialects: [],
    types: ["chat"],
    lists_models: true,
    fields: [field("tenant", "Tenant", "Whose it is."), field("region", "Zone", null), field("__proto__", "P", null)],
  };
  expect(kindInWords(form)).toEqual(form);
  const translated = kindInWords(form, inChinese);
  expect({ ...translated, fields: [] }).toEqual({ ...form, fields: [] });
  expect(translated.fields.map(({ label, help }) => [label, help])).toEqual([
    ["Tenant", "Whose it is."],
    [kinds.setting["region"]?.label ?? "", null],
    ["P", null],
  ]);
});

test("a provider type may have its own label for a setting", () => {
  const of = (kind: string) =>
    kindInWords(
      {
        kind,
        title: kind,
        base_url: null,
        base_url_help: null,
        api_key: "none",
        api_key_help: null,
        dialects: [],
        types: [],
        lists_models: false,
        fields: [field("region", "?", null)],
      },
      inChinese,
    ).fields[0]?.label;
  const ofArk = kinds.kind["ark"]?.setting?.["region"]?.label;
  expect([of("bedrock"), of("ark")]).toEqual([kinds.setting["region"]?.label, ofArk]);
  expect(ofArk).toMatch(/\p{Script=Han}/u);
});
