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

describe.each(workflows)("%s", (_file, text) => {
  const { permissions, jobs } = parse(text) as {
    permissions: Readonly<Record<string, string>>;
    jobs: Readonly<Record<string, Job>>;
  };

  test("names every action by its commit, with the version beside it", () => {
    const uses = [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, action]) => action ?? "");
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  });

  test("runs no code of a dependency in a job that may publish", () => {
    expect(permissions).toEqual({ contents: "read" });
    const publishing = Object.entries(jobs).filter(([, { permissions: own = {} }]) =>
      ["id-token", "contents", "attestations"].some((right) => own[right] === "write"),
    );
    for (const [name, { steps }] of publishing) {
      expect(
        steps.filter(({ uses }) => uses?.startsWith("actions/checkout@") === true),
        name,
      ).toEqual([]);
      const commands = steps.flatMap(({ run }) => run?.split("\n") ?? []);
      const allowed = /^(?:npm publish --ignore-scripts |gh release create |sha256sum )/;
      expect(
        commands.filter((command) => !allowed.test(command)),
        name,
      ).toEqual([]);
    }
  });
});
