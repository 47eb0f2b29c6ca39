// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the notation under test
import { describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigInvalid, loadConfigFile, type Problem } from "#config/index.ts";
import { kindForm, providerKinds } from "#providers/index.ts";
import { kindCheck } from "../src/main/config-checks.ts";

/** All problems of a file's text, as `sluice check` reports them. */
async function problemsOf(text: string, variables: Record<string, string> = {}): Promise<readonly Problem[]> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-config-"));
  const file = join(folder, "c.yaml");
  try {
    await writeFile(file, text);
    await loadConfigFile(file, { HOME: "/root", ...variables }, [kindCheck]);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof ConfigInvalid)) throw thrown;
    return thrown.problems;
  } finally {
    await rm(folder, { recursive: true });
  }
}

const linesOf = async (text: string, variables?: Record<string, string>) =>
  (await problemsOf(text, variables)).map(({ line, path, message }) => `${line} ${path}: ${message}`);

describe("a config file with many problems", () => {
  test("reports all of them at once, from every section and of every kind", async () => {
    const text = [
      "providers:",
      "  - { id: main, kind: opnai, enabled: yes }",
      "  - { id: aws, kind: bedrock, settings: { regoin: eu-central-1 } }",
      "  - { id: own, kind: openai-compatible }",
      "  - { id: own, kind: openai, api_key: '${NOPE}' }",
      "models:",
      "  - { name: gpt, deployments: [{ provider: mian }], fallbacks: [claude], price: { input: cheap } }",
      "workspaces:",
      "  - slug: acme",
      "    limits: { rpm: none }",
      "    keys:",
      "      - { name: ci, group: wide, secret: short, allowed_ips: [10.0.0.0/8, '127.1'] }",
      "      - { name: ci }",
      "settings: { ledger: { durability: disc } }",
    ].join("\n");
    expect(await linesOf(text)).toEqual([
      '2 providers[0].kind: there is no provider type "opnai"; did you mean `openai`?',
      "2 providers[0].enabled: must be true or false, not a string",
      "3 providers[1].settings.regoin: the provider type bedrock has no setting `regoin`; did you mean `region`?",
      '4 providers[2].base_url: the provider type "openai-compatible" needs a base_url',
      '5 providers[3].id: the provider "own" is already declared at providers[2]',
      "5 providers[3].api_key: the environment variable NOPE is not set",
      '7 models[0].deployments[0].provider: there is no provider "mian"',
      '7 models[0].fallbacks[0]: there is no model "claude"',
      "7 models[0].price.input: must be a number, not a string",
      "10 workspaces[0].limits.rpm: must be a number, not a string",
      '12 workspaces[0].keys[0].group: there is no group "wide" in this workspace',
      "12 workspaces[0].keys[0].secret: must have at least 24 characters",
      "12 workspaces[0].keys[0].allowed_ips[1]: must be an IP address or a range such as 10.0.0.0/8",
      '13 workspaces[0].keys[1].name: the key "ci" is already declared at workspaces[0].keys[0]',
      "14 settings.ledger.durability: must be one of process, disk, strict, remote; did you mean `disk`?",
    ]);
  });

  test.each([
    ["a provider id from a variable that is not set", ["providers: [{ id: '${WHO}', kind: demo }]", model], 1],
    ["a provider without an id", ["providers: [{ kind: demo }]", model], 1],
    ["a provider that is not an object", ["providers: [main]", model], 1],
    ["providers that are not a list", ["providers: { id: main }", model], 1],
    ["a misspelt section", ["provders: [{ id: main, kind: demo }]", model], 1],
    ["a provider with other invalid fields", ["providers: [{ id: main, kind: demo, base_url: 5 }]", model], 1],
    ["a missing kind", ["providers: [{ id: main }]", model], 1],
    [
      "a group without a name",
      ["workspaces: [{ slug: a, groups: [{ models: [x] }], keys: [{ name: k, group: g }] }]"],
      1,
    ],
  ])("does not report consequences of a reported problem: %s", async (_, lines, count) => {
    expect(await problemsOf(lines.join("\n"))).toHaveLength(count);
  });

  test("reports only the value that was made invalid, for every value of a valid file", async () => {
    const good = {
      providers: [
        {
          id: "main",
          kind: "openai",
          api_key: "sk-x",
          base_url: "https://a.example/v1",
          settings: { endpoints: ["chat"] },
        },
        { id: "aws", kind: "bedrock", api_key: "k", settings: { region: "eu-central-1" } },
      ],
      models: [
        { name: "one", deployments: [{ provider: "main" }, { provider: "aws", weight: 5 }], fallbacks: ["two"] },
        { name: "two", type: "chat", deployments: [{ provider: "aws" }], price: { input: 1 } },
      ],
      workspaces: [
        {
          slug: "acme",
          budget: { usd: 1, period: "month" },
          groups: [
            { name: "default", models: ["*"] },
            { name: "wide", limits: { rpm: 5 } },
          ],
          keys: [{ name: "ci", group: "wide", allowed_ips: ["10.0.0.0/8"], expires_at: "2030-01-31T00:00:00Z" }],
        },
      ],
      settings: { ledger: { durability: "disk" } },
    };
    expect(await problemsOf(JSON.stringify(good))).toEqual([]);
    let tried = 0;
    for (const path of placesIn(good)) {
      for (const wrong of [7, {}, [], true, null, "\u0001 ?"]) {
        const problems = await problemsOf(JSON.stringify(changed(good, path, wrong)));
        if (problems.length === 0) continue;
        tried += 1;
        const text = pathText(path);
        // A changed name is reported as missing where it is referenced, which is correct.
        const misses = typeof wrong === "string" || Array.isArray(wrong);
        for (const problem of problems) {
          if (misses && /there is no|already/.test(problem.message)) continue;
          // A provider type's own check reports its settings as a whole.
          if (problem.path.startsWith("providers[") && text.startsWith(problem.path)) continue;
          expect(`${problem.path} ${problem.message}`, `${text} = ${JSON.stringify(wrong)}`).toStartWith(text);
        }
      }
    }
    expect(tried).toBeGreaterThan(100);
  });
});

describe("settings of a provider", () => {
  test("every setting that the form of a type has is accepted, also empty", async () => {
    const values = { text: "x", secret: "x", boolean: true, number: 1, list: ["x"], select: "x", json: {} } as const;
    for (const kind of providerKinds) {
      for (const field of kindForm(kind).fields) {
        const value =
          field.options === null ? values[field.type] : field.type === "list" ? [field.options[0]] : field.options[0];
        for (const setting of [value, "", null]) {
          const provider = {
            id: "p",
            kind: kind.id,
            base_url: "https://a.example",
            api_key: "k",
            settings: { [field.name]: setting },
          };
          const problems = await problemsOf(JSON.stringify({ providers: [provider] }));
          const unknown = problems.filter(({ path }) => path.startsWith("providers[0].settings."));
          expect(unknown, `${kind.id} ${field.name} ${JSON.stringify(setting)}`).toEqual([]);
        }
      }
    }
  });

  test("settings that the type does not have are reported, with the existing ones", async () => {
    expect(
      await linesOf(
        "providers: [{ id: a, kind: azure-openai, base_url: 'https://a.example', settings: { x: 1, api_verson: y } }]",
      ),
    ).toEqual([
      "1 providers[0].settings.x: the provider type azure-openai has no setting `x`; it has resource, api_version, auth, tenant_id, client_id, client_secret, identity_file, identity_certificate, identity_key, endpoints, forward_headers, objects, fetches_urls, reasoning, pass_members, pass_through, cost_source, proxy, ca, client_certificate, client_key",
      "1 providers[0].settings.api_verson: the provider type azure-openai has no setting `api_verson`; did you mean `api_version`?",
    ]);
    expect(await linesOf("providers: [{ id: a, kind: ark, api_key: k, settings: { mark_tasks: 'yes' } }]")).toEqual([
      "1 providers[0].settings.mark_tasks: must be true or false",
    ]);
    expect(
      await linesOf(
        "providers: [{ id: a, kind: groq, api_key: k, settings: { reasoning: { 'x*': { efforts: [hard] } } } }]",
      ),
    ).toEqual([
      '1 providers[0].settings: settings.reasoning: of "x*", efforts must be a list of: none, minimal, low, medium, high, xhigh, max',
    ]);
    const secret = await linesOf("providers: [{ id: a, kind: openai, settings: { token: canary-secret } }]");
    expect(secret.join()).not.toContain("canary");
  });
});

test("an unset variable is suggested as another one only if the names are similar", async () => {
  const problemWith = async (name: string, variables: Record<string, string>) =>
    (await linesOf(`providers: [{ id: a, kind: openai, api_key: '\${${name}}' }]`, variables))[0];
  expect(await problemWith("NOPE", { PATH: "/bin", NONE: "x" })).toEndWith("NOPE is not set; did you mean `NONE`?");
  for (const name of ["NOPE", "PORT", "AB", "X"])
    expect(await problemWith(name, { PATH: "1", A: "2" })).toEndWith("is not set");
  expect(await problemWith("OPENAI_KEY", { OPENAI_API_KEY: "x" })).toEndWith("OPENAI_KEY is not set");
});

const model = "models: [{ name: one, deployments: [{ provider: main }] }]";

function placesIn(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const inner = Object.entries(value).flatMap(([name, each]) =>
    placesIn(each, [...path, Array.isArray(value) ? Number(name) : name]),
  );
  return path.length === 0 ? inner : [path, ...inner];
}

function changed(value: unknown, [step, ...rest]: readonly (string | number)[], wrong: unknown): unknown {
  if (step === undefined) return wrong;
  if (Array.isArray(value)) return value.map((each, index) => (index === step ? changed(each, rest, wrong) : each));
  const object = value as Record<string, unknown>;
  return { ...object, [step]: changed(object[step], rest, wrong) };
}

function pathText(path: readonly (string | number)[]): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .slice(1);
}
