import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const root = join(import.meta.dir, "../../..");
const folder = join(root, ".github/workflows");
const workflows = readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")] as const);

/** The repository's scripts that need no package, and the runner's publishing tools. */
const allowedCommand =
  /^(?:npm publish --ignore-scripts |gh release create |sha256sum |cp |node scripts\/release-chart\.mjs |helm (?:lint|package|push|registry login) )/;

/** The forbidden commands of a job with publishing rights. A job with read access may publish packages only. */
function problems({ permissions = {}, steps }: Job): readonly string[] {
  const rights = Object.keys(permissions).filter((right) => permissions[right] === "write");
  if (rights.length === 0) return [];
  const checkouts = steps.flatMap(({ uses = "" }) => (uses.startsWith("actions/checkout@") ? [uses] : []));
  const commands = steps.flatMap(({ run }) => run?.split("\n") ?? []).filter((command) => command !== "");
  return [
    ...(rights.join() === "packages" ? [] : checkouts),
    ...commands.filter((command) => !allowedCommand.test(command)),
  ];
}

describe.each(workflows)("%s", (_file, text) => {
  const { permissions, jobs } = parse(text) as {
    permissions: Readonly<Record<string, string>>;
    jobs: Readonly<Record<string, Job>>;
  };

  test("pins every action to a commit, with its version in a comment", () => {
    const uses = [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, action]) => action ?? "");
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  test("runs no dependency's code in a job that may publish", () => {
    expect(permissions).toEqual({ contents: "read" });
    expect(Object.entries(jobs).flatMap(([name, job]) => problems(job).map((fault) => `${name}: ${fault}`))).toEqual(
      [],
    );
  });
});

test.each([
  [{ packages: "write" }, { run: "npm ci\nnode scripts/release-chart.mjs dist/chart a/b" }, ["npm ci"]],
  [{ pages: "write" }, { run: "npm run docs:site" }, ["npm run docs:site"]],
  [{ "id-token": "write", packages: "write" }, { uses: "actions/checkout@0" }, ["actions/checkout@0"]],
  [{ contents: "read" }, { run: "npm ci" }, []],
])("a job with %j that runs %j has the problems %j", (permissions, step, expected) => {
  expect(problems({ permissions, steps: [step] } as unknown as Job)).toEqual(expected);
});
