import { expect, test } from "bun:test";
import type { ProviderKindForm } from "@sluice/contract";
import { fittingKinds } from "./kind-search.ts";

const kind = (title: string, more: Partial<ProviderKindForm> = {}): ProviderKindForm => ({
  kind: title.toLowerCase().replaceAll(" ", "-"),
  title,
  base_url: null,
  base_url_help: null,
  api_key: "required",
  api_key_help: null,
  dialects: [],
  types: ["chat"],
  lists_models: true,
  fields: [],
  ...more,
});

const kinds = [
  kind("Azure OpenAI"),
  kind("OpenAI", { types: ["chat", "image"] }),
  kind("Kling", { types: ["video"] }),
  kind("Moonshot AI (Kimi)", { dialects: ["anthropic-messages"] }),
];
const titles = (search: string) => fittingKinds(kinds, search).map(({ title }) => title);

test("finds provider types by name, output and protocol; all words must match", () => {
  expect(titles("kimi")).toEqual(["Moonshot AI (Kimi)"]);
  expect(titles("video")).toEqual(["Kling"]);
  expect(titles("anthropic")).toEqual(["Moonshot AI (Kimi)"]);
  expect(titles("openai image")).toEqual(["OpenAI"]);
  expect(titles("nothing")).toEqual([]);
});

test("names that start with the word come first; without a word the order is unchanged", () => {
  expect(titles("openai")).toEqual(["OpenAI", "Azure OpenAI"]);
  expect(titles("  ")).toEqual(kinds.map(({ title }) => title));
});
