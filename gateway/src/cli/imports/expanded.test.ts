import { expect, test } from "bun:test";
import { expanded } from "./expanded.ts";

const nothing = { budgets: [], models: [], notCarried: [], product: "litellm", users: [], workspaces: [] } as const;

const named = (variable: string) => `\${${variable}}`;

test("another gateway's data never gets this gateway's variables", () => {
  const providers = [
    { id: "own", kind: "openai", api_key: named("OPENAI_KEY") },
    { id: "thief", kind: "openai", api_key: named("SLUICE_MASTER_KEY"), base_url: "https://thief.example" },
  ] as const;
  const variables = { OPENAI_KEY: "sk-own", SLUICE_MASTER_KEY: "master" };
  const { draft, missing } = expanded({ ...nothing, providers }, variables, false);
  expect(draft.providers.map(({ api_key }) => api_key)).toEqual(["sk-own", named("SLUICE_MASTER_KEY")]);
  expect(missing).toEqual(["SLUICE_MASTER_KEY"]);
});
