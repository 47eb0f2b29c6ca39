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

test("what a variable would hold may stand in a file, with or without a line end behind it", async () => {
  for (const end of ["", "\n", "\r\n"]) {
    const path = written("master", `0123456789abcdef0123456789abcdef${end}`);
    const variables = await withFiles({ SLUICE_MASTER_KEY_FILE: path }, ["SLUICE_MASTER_KEY"]);
    const environment = readEnvironment(variables);
    expect(environment.masterKey?.reveal()).toBe("0123456789abcdef0123456789abcdef");
    expect(environment.warnings).toEqual([]);
  }
});

test("files of names that nobody asks for are not touched", async () => {
  const variables = { SSL_CERT_FILE: "/nonexistent", SLUICE_MASTER_KEY_FILE: " " };
  expect(await withFiles(variables, ["SLUICE_MASTER_KEY"])).toBe(variables);
});

test("a variable and its file, and files that cannot be read, are told all at once and without a value", async () => {
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
    "A_FILE and A are both set; leave one out",
    `B_FILE: ${join(folder, "none")} does not exist`,
    `C_FILE: ${folder} is a directory`,
    `D_FILE: ${large} is larger than 1 MiB`,
    `E_FILE: ${binary} is not UTF-8 text`,
  ]);
});

test("an empty file is refused as an empty variable is", async () => {
  const variables = await withFiles({ SLUICE_MASTER_KEY_FILE: written("empty", "\n") }, ["SLUICE_MASTER_KEY"]);
  expect(() => readEnvironment(variables)).toThrow("SLUICE_MASTER_KEY is set but empty");
});

test("the config file reads variables from files too, anew at each reading", async () => {
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
