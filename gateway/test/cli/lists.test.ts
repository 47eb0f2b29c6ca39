import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "../command-line.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-lists-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test("provider list and model list show the deployments; a backup into a missing folder names it", async () => {
  const dataDir = join(folder, "lists");
  const file = written(
    "lists.yaml",
    [
      "providers: [{ id: main, kind: demo }, { id: off, kind: openai, api_key: sk-not-shown, enabled: false }]",
      "models:",
      "  - { name: m, deployments: [{ provider: main }, { provider: off }], price: { input: 1 }, fallbacks: [n] }",
      "  - { name: n, deployments: [{ provider: main }] }",
    ].join("\n"),
  );
  await sluice(["apply", file], dataDir);
  const providers = await sluice(["provider", "list"], dataDir);
  expect(providers.stdout).toMatch(/^off +openai +https:\S+ +disabled +1$/m);
  expect(providers.stdout).not.toContain("sk-not");
  const models = await sluice(["model", "list"], dataDir);
  expect(models.stdout).toMatch(/^m +chat +yes +main, off \(disabled\) +n$/m);
  const asJson = JSON.parse((await sluice(["model", "list", "--json"], dataDir)).stdout);
  expect(asJson.models[1]).toMatchObject({
    name: "n",
    has_price: false,
    deployments: [{ provider: "main", enabled: true }],
  });
  const place = join(folder, "nowhere", "copy.sqlite");
  const refused = await sluice(["backup", place], dataDir);
  const folderOf = join(folder, "nowhere");
  expect(refused).toMatchObject({
    status: 1,
    stderr: `sluice: There is no folder ${folderOf} for ${place}; make it first.\n`,
  });
});
