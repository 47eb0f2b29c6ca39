import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../test/until.ts";
import { startGateway } from "../processes-fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-refused-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a refused config file shows in /readyz and /metrics until it is read without problems", async () => {
  const file = join(folder, "sluice.yaml");
  const good = "providers: [{ id: main, kind: demo }]\nworkspaces: [{ slug: acme }]\n";
  writeFileSync(file, good);
  await using gateway = await startGateway(join(folder, "data"), { SLUICE_CONFIG: file });
  const text = async (path: string) => await (await fetch(`${gateway.url}${path}`)).text();
  const isValid = async () => /^sluice_config_file_valid (\d)$/m.exec(await text("/metrics"))?.[1];
  expect([await text("/readyz"), await isValid()]).toEqual(["ready\n", "1"]);
  for (const bad of ["providers: [{ id: main, kind: nosuch }]\n", good.split("\n")[0] ?? ""]) {
    writeFileSync(file, bad);
    await until(async () => /^ready, but the config file was refused at 2\d{3}-/.test(await text("/readyz")));
    expect(await isValid()).toBe("0");
    writeFileSync(file, good);
    await until(async () => (await text("/readyz")) === "ready\n");
    expect(await isValid()).toBe("1");
  }
});
