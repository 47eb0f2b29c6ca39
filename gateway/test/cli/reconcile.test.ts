import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { createLedgerStore, dataPaths, openDatabase } from "#storage/index.ts";
import { putSystemValue } from "#storage/tables.ts";
import { sluice } from "../command-line.ts";
import { ledgerEntry } from "../conformance/store-fixture.ts";
import { migratedIn } from "../migrated.ts";

const config = `
providers: [{ id: up, kind: openai-compatible, base_url: https://up.example/v1, billing: { kind: csv } }]
models: [{ name: large, deployments: [{ provider: up }], price: { input: 2, output: 10 } }]
`;

test("reconcile prints unexplained differences and exits with 1, or with 0 if there are none", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "sluice-reconcile-"));
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(dataDir, name), content);
    return join(dataDir, name);
  };
  try {
    await migratedIn(dataDir);
    expect((await sluice(["apply", file("config.yaml", config)], dataDir)).status).toBe(0);
    const database = openDatabase({ path: dataPaths(dataDir).database });
    const { id: priceVersion } = await database.kysely.selectFrom("prices").select("id").executeTakeFirstOrThrow();
    const at = Date.UTC(2026, 0, 15);
    const entry = ledgerEntry("1", { at, provider: "up", model: "large", upstreamModel: "large", priceVersion });
    const usage = { ...entry.usage, inputUncached: 1_000, cacheRead: 0, output: 1_000, reasoning: 0 };
    await createLedgerStore(database).insert([{ ...entry, usage, costNanoUsd: 12_000_000 }]);
    await database.close();

    const bill = (output: string) =>
      `day,model,class,units,cost\n2026-01-15,large,input,1000,0.002\n2026-01-15,large,output,1000,${output}\n`;
    const wrong = await sluice(["reconcile", "up", file("wrong.csv", bill("0.015"))], dataDir);
    expect([wrong.status, wrong.stderr]).toEqual([1, "sluice: the bill and the ledger differ in 1 line\n"]);
    expect(wrong.stdout).toContain(
      "2026-01-15: 0.017 USD on the bill, 0.012 USD in the ledger, 0.005 USD unexplained\n",
    );
    expect(wrong.stdout).toMatch(/\n2026-01-15 {2}large {2}output {2}0\.01 {2}0\.015 {3}0\.005 {7}wrong_price\n$/);

    const packed = file("right.csv.gz", gzipSync(bill("0.01")));
    const right = await sluice(["reconcile", "up", packed, "--json"], dataDir);
    expect([right.status, right.stderr]).toEqual([0, ""]);
    expect(JSON.parse(right.stdout).days).toMatchObject([{ day: "2026-01-15", differingNanoUsd: 0 }]);

    for (const [words, problem] of [
      [["missing", packed], "Provider not found"],
      [["up", join(dataDir, "none.csv")], "cannot read"],
      [["up", file("bad.csv", "a,b\n1,2\n")], "no column day"],
      [["up", file("bad.gz", new Uint8Array([0x1f, 0x8b, 1, 2]))], "cannot unpack"],
    ] as const) {
      const refused = await sluice(["reconcile", ...words], dataDir);
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(problem)]);
    }
    // Without its entries, all of a day would seem to be missing in the ledger.
    const pruned = openDatabase({ path: dataPaths(dataDir).database });
    await putSystemValue(pruned.kysely, "ledger.pruned_before", String(at + 1));
    await pruned.close();
    const late = await sluice(["reconcile", "up", packed], dataDir);
    expect([late.status, late.stderr]).toEqual([1, expect.stringContaining("entries of 2026-01-15 were deleted")]);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
