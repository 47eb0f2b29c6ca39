import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bounds } from "#core/index.ts";
import { ConfigInvalid } from "./config-invalid.ts";
import { loadConfigFile } from "./load-config-file.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("returns the digest of the file's bytes", async () => {
  const first = await loadConfigFile(written("a.yaml", "models: []"), {});
  const second = await loadConfigFile(written("b.yaml", "models: []"), {});
  const third = await loadConfigFile(written("c.yaml", "models: [] "), {});
  expect(first.config).toEqual({ models: [] });
  expect(second.digest).toBe(first.digest);
  expect(third.digest).not.toBe(first.digest);
});

test("refuses an unreadable file like an invalid one", async () => {
  expect(await refusal(join(folder, "none.yaml"))).toBe(`${folder}/none.yaml: does not exist`);
  expect(await refusal(folder)).toBe(`${folder}: is a directory`);
  expect(await refusal(written("latin.yaml", Buffer.from([0x61, 0x3a, 0x20, 0xe9])))).toBe(
    `${folder}/latin.yaml: is not UTF-8 text`,
  );
});

test.skipIf(process.getuid?.() === 0)(
  "refuses a file that this user cannot read (root can read every file)",
  async () => {
    const file = written("closed.yaml", "{}");
    chmodSync(file, 0);
    expect(await refusal(file)).toBe(`${file}: cannot be read: permission denied`);
  },
);

test("refuses a file over the size limit without reading all of it", async () => {
  const file = written("large.yaml", Buffer.alloc(bounds.configFileBytesMax + 1, "#"));
  expect(await refusal(file)).toBe(`${file}: is larger than 16 MiB`);
  expect(await refusal("/dev/zero")).toBe("/dev/zero: is larger than 16 MiB");
});

function written(name: string, content: string | Uint8Array): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

async function refusal(file: string): Promise<string> {
  try {
    await loadConfigFile(file, {});
  } catch (thrown) {
    if (thrown instanceof ConfigInvalid) return thrown.message;
    throw thrown;
  }
  return "";
}
