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

test.each([
  ["http://10.1.2.3:8000/v1", true],
  ["http://[fd12:3456::1]/v1", true],
  ["http://ollama:11434", true],
  ["https://llm.corp.internal/v1", true],
  ["https://api.example.com/v1", false],
  ["https://93.184.216.34/v1", false],
  // Where clouds serve machine credentials.
  ["http://169.254.169.254/latest", false],
  ["http://[fd00:ec2::254]/latest", false],
])("%s may use the private network: %p", (base_url, isAllowed) => {
  const providers = [{ id: "own", kind: "openai-compatible", base_url }] as const;
  const { draft } = expanded({ ...nothing, providers }, {}, false);
  expect(draft.providers[0]?.allow_private_network === true).toBe(isAllowed);
});
