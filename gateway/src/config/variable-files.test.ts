import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EnvironmentInvalid, loadConfigFile, readEnvironment, withFiles } from "./index.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-variables-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function written(name: string, text: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function problemsOf(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work;
  } catch (thrown) {
    if (thrown instanceof EnvironmentInvalid) return thrown.problems;
    throw thrown;
  }
  return [];
}

test("reads a variable from a file, with or without a trailing line end", async () => {
  for (const end of ["", "\n", "\r\n"]) {
    const path = written("master", `0123456789abcdef0123456789abcdef${end}`);
    const variables = await withFiles({ SLUICE_MASTER_KEY_FILE: path }, ["SLUICE_MASTER_KEY"]);
    const environment = readEnvironment(variables);
    expect(environment.masterKey?.reveal()).toBe("0123456789abcdef0123456789abcdef");
    expect(environment.warnings).toEqual([]);
  }
});

test("reads only the requested variables", async () => {
  const variables = { SSL_CERT_FILE: "/nonexistent", SLUICE_MASTER_KEY_FILE: " " };
  expect(await withFiles(variables, ["SLUICE_MASTER_KEY"])).toBe(variables);
});

test("reports variables with two sources and unreadable files at once, without values", async () => {
  const large = written("large", "x".repeat(1025 * 1024));
  const binary = written("binary", new Uint8Array([0xff, 0xfe, 0xfd]));
  const secret = written("secret", "the secret of the file");
  const problems = await problemsOf(
    withFiles(
      {
        A: "the secret itself",
        A_FILE: secret,
        B_FILE: join(folder, "none"),
        C_FILE: folder,
        D_FILE: large,
        E_FILE: binary,
      },
      ["A", "B", "C", "D", "E", "F"],
    ),
  );
  expect(problems).toEqual([
    "A_FILE and A are both set; unset one",
    `B_FILE: ${join(folder, "none")} does not exist`,
    `C_FILE: ${folder} is a directory`,
    `D_FILE: ${large} is larger than 1 MiB`,
    `E_FILE: ${binary} is not UTF-8 text`,
  ]);
});

test("refuses an empty file like an empty variable", async () => {
  const variables = await withFiles({ SLUICE_MASTER_KEY_FILE: written("empty", "\n") }, ["SLUICE_MASTER_KEY"]);
  expect(() => readEnvironment(variables)).toThrow("SLUICE_MASTER_KEY is empty");
});

test("reads the config file's variables from files at each load", async () => {
  const key = written("ci-key", "sk-acme-ci-00000000000000001\n");
  const config = written(
    "sluice.yaml",
    `workspaces: [ { slug: acme, keys: [ { name: ci, secret: "\${ACME_CI_KEY}" } ] } ]\n`,
  );
  const read = async () =>
    (await loadConfigFile(config, { ACME_CI_KEY_FILE: key })).config.workspaces?.[0]?.keys?.[0]?.secret;
  expect(await read()).toBe("sk-acme-ci-00000000000000001");
  written("ci-key", "sk-acme-ci-00000000000000002\n");
  expect(await read()).toBe("sk-acme-ci-00000000000000002");
  rmSync(key);
  expect(read()).rejects.toThrow(`ACME_CI_KEY_FILE: ${key} does not exist`);
});
