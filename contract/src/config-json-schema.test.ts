import { expect, test } from "bun:test";
import { Ajv2020 } from "ajv/dist/2020.js";
import stored from "../config.schema.json" with { type: "json" };
import { configJsonSchema, configJsonSchemaText } from "./config-json-schema.ts";
import { withSettings } from "./write-schema.ts";

const validate = new Ajv2020({
  strict: true,
  strictTypes: false,
  allowUnionTypes: true,
  validateFormats: false,
}).compile(configJsonSchema());

test("the stored JSON Schema is the one of the config schema (else run contract/src/write-schema.ts)", async () => {
  expect(await Bun.file(new URL("../config.schema.json", import.meta.url)).text()).toBe(configJsonSchemaText());
  expect(stored.title).toBe("Sluice configuration");
});

test("docs/configuration.md has the settings of the table (else run contract/src/write-schema.ts)", async () => {
  const page = await Bun.file(new URL("../../docs/configuration.md", import.meta.url)).text();
  expect(page).toBe(withSettings(page));
});

test("editors accept what the gateway accepts, with variables in place of texts", () => {
  const config = {
    providers: [{ id: "main", kind: "openai", base_url: "https://api.example.com/v1", api_key: variable("A_KEY") }],
    models: [{ name: "gpt-5", type: "chat", deployments: [{ provider: "main" }], price: { input: 1.25 } }],
    workspaces: [{ slug: variable("SLUG"), keys: [{ name: "ci", secret: variable("CI"), limits: { rpm: 60 } }] }],
    settings: { ledger: { durability: "disk" } },
  };
  expect(validate(config) || validate.errors).toBe(true);
  const providers = [
    { id: "a", kind: "bedrock", settings: { region: variable("REGION"), betas: ["x"], session_token: null } },
    { id: "b", kind: "openai", settings: { endpoints: ["chat", variable("MORE")] } },
    { id: "c", kind: variable("KIND"), settings: { anything: true } },
    { id: "d", kind: "ark", settings: { mark_tasks: true } },
  ];
  expect(validate({ providers }) || validate.errors).toBe(true);
});

test("editors mark unknown fields, short secrets and wrong choices", () => {
  const wrong = [
    { provider: [] },
    { providers: [{ id: "main", kind: "openai", api_kye: "x" }] },
    { workspaces: [{ slug: "acme", keys: [{ name: "ci", secret: "short" }] }] },
    { settings: { ledger: { durability: "disc" } } },
    { workspaces: [{ slug: "Not A Slug" }] },
    { providers: [{ id: "main", kind: "opnai" }] },
    { providers: [{ id: "main", kind: "bedrock", settings: { regoin: "eu-central-1" } }] },
    { providers: [{ id: "main", kind: "bedrock", settings: { betas: "one" } }] },
    { providers: [{ id: "main", kind: "openai", settings: { endpoints: ["chatt"] } }] },
    { providers: [{ id: "main", kind: "ark", settings: { mark_tasks: "yes" } }] },
  ];
  for (const config of wrong) expect(validate(config)).toBe(false);
});

function variable(name: string): string {
  return `\${${name}}`;
}
