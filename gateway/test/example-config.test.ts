import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configJsonSchema } from "@sluice/contract";
import { parse as readYaml } from "yaml";
import { ConfigInvalid } from "#config/index.ts";
import { makeAdminTokenSecret } from "#identity/index.ts";
import { parseWithWarnings } from "../src/config/parse-config.ts";
import { configWarnings, kindCheck } from "../src/main/config-checks.ts";

const file = "deploy/sluice.example.yaml";
const text = readFileSync(join(import.meta.dir, "..", "..", file), "utf8");

const variables = Object.fromEntries(
  [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => [name, variableOf(name)]),
);

function variableOf(name: string): string {
  if (name.endsWith("_SHA256")) return (name.startsWith("SCIM") ? "1" : "0").repeat(64);
  return name === "TERRAFORM_TOKEN"
    ? makeAdminTokenSecret(new Uint8Array(32))
    : `sk-example-${name.toLowerCase()}-000000`;
}

test("the example config file is valid and has no warnings", () => {
  try {
    const { warnings } = parseWithWarnings(text, file, variables, [kindCheck], configWarnings(Date.UTC(2026, 10, 29)));
    expect(warnings).toEqual([]);
  } catch (thrown) {
    if (!(thrown instanceof ConfigInvalid)) throw thrown;
    expect(thrown.problems.map(({ line, path, message }) => `line ${line}: ${path} ${message}`)).toEqual([]);
  }
});

test("the example config file has every key of the schema", () => {
  const used = new Set<string>();
  addPaths(readYaml(text, { merge: true }), "", used);
  const missing = [...new Set(pathsOf(configJsonSchema(), ""))].filter((path) => !used.has(path) && !isVariation(path));
  expect(missing).toEqual([]);
});

/** Prices, limits, budgets, budget policies and guardrails have the same keys everywhere; `price_as` replaces another form of the same setting. */
function isVariation(path: string): boolean {
  return (
    path === "$schema" ||
    path === "settings.unpriced.price_as" ||
    /^workspaces\[\]\.(?:guardrails|budgets)\[\]\./.test(path) ||
    /^models\[\]\.(?:next_price\.price|price\.variants\[\])\./.test(path) ||
    /^(?:workspaces\[\]\.(?:groups|keys)|users\[\]\.workspaces)\[\]\.(?:limits|budget)\./.test(path)
  );
}

function addPaths(value: unknown, path: string, paths: Set<string>): void {
  if (Array.isArray(value)) for (const each of value) addPaths(each, `${path}[]`, paths);
  else if (typeof value === "object" && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      const at = path === "" ? name : `${path}.${name}`;
      paths.add(at);
      addPaths(each, at, paths);
    }
  }
}

interface SchemaNode {
  readonly $ref?: string;
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
}

function* pathsOf(node: SchemaNode, path: string): Generator<string> {
  for (const branch of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])])
    yield* pathsOf(branch, path);
  if (node.items !== undefined) yield* pathsOf(node.items, `${path}[]`);
  for (const [name, each] of Object.entries(node.properties ?? {})) {
    const at = path === "" ? name : `${path}.${name}`;
    yield at;
    yield* pathsOf(each, at);
  }
}
