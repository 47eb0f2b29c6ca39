import { expect, test } from "bun:test";
import type { ProviderKindForm } from "@sluice/contract";
import { kindInWords } from "./kind-words.ts";

const field = (name: string, label: string, help: string | null): ProviderKindForm["fields"][number] => ({
  name,
  label,
  type: "text",
  required: false,
  help,
  placeholder: null,
  options: null,
});

test("a kind that the catalogue does not know, and settings that it lacks, say what the gateway says of them", () => {
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
  const told = kindInWords(form);
  expect({ ...told, fields: [] }).toEqual({ ...form, fields: [] });
  expect(told.fields.map(({ label, help }) => [label, help])).toEqual([
    ["Tenant", "Whose it is."],
    ["Region", null],
    ["P", null],
  ]);
});

test("a setting that a kind calls otherwise is called so there", () => {
  const of = (kind: string) =>
    kindInWords({
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
    }).fields[0]?.label;
  expect([of("bedrock"), of("ark")]).toEqual(["Region", "Asset library region"]);
});
