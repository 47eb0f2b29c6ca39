import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "#system/index.ts";
import { ConfigFile } from "./config-file.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-config-facts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("shows the current warnings about the config file in the console", async () => {
  const path = join(folder, "sluice.yaml");
  const config = new ConfigFile(path, systemClock, { LOCAL: "http://127.0.0.1:11434/v1" });
  expect(await config.warnings()).toEqual([]);
  writeFileSync(path, `providers: [{ id: local, kind: openai-compatible, base_url: "\${LOCAL}" }]\n`);
  expect(await config.warnings()).toEqual([expect.stringMatching(/sluice\.yaml.*127\.0\.0\.1 is a private address/)]);
  writeFileSync(path, "providers: nothing\n");
  expect(await config.warnings()).toEqual([]);
  expect(await new ConfigFile(null, systemClock, {}).warnings()).toEqual([]);
});
