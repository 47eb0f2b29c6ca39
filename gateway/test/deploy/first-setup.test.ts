import { expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "#config/index.ts";
import { deploy, imageVariables, root, textOf } from "./deploy-files.ts";

const settings = ["SLUICE_ADMIN_EMAIL=ada@example.com", "SLUICE_PUBLIC_URL=https://ai.example.com/$x"];

test("after the setup, both compose files need no shell variable and use the values given once", () => {
  withSetup((setUp, folder) => {
    expect(setUp(...settings)).toBe(0);
    const file = join(folder, ".env");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const name of ["compose.yaml", "compose.small.yaml"]) {
      const text = interpolated(textOf(name), variablesOf(file));
      expect(text).toContain("SLUICE_ADMIN_EMAIL: ada@example.com\n");
      expect(text).toContain("SLUICE_PUBLIC_URL: https://ai.example.com/$x\n");
      expect(text).toContain("127.0.0.1:");
    }
  });
});

test("a second setup changes the given variables, and keeps the others and every secret", () => {
  withSetup((setUp, folder) => {
    setUp(...settings);
    const secret = readFileSync(join(folder, "secrets", "master-key"), "utf8");
    writeFileSync(join(folder, ".env"), `${readFileSync(join(folder, ".env"), "utf8")}# ours\nOPENAI_API_KEY='sk-1'\n`);
    expect(setUp("SLUICE_LISTEN=0.0.0.0:80", "SLUICE_ADMIN_EMAIL=bob@example.com")).toBe(0);
    expect(readFileSync(join(folder, ".env"), "utf8").trim().split("\n")).toEqual([
      "SLUICE_ADMIN_EMAIL='bob@example.com'",
      "SLUICE_PUBLIC_URL='https://ai.example.com/$x'",
      "# ours",
      "OPENAI_API_KEY='sk-1'",
      "SLUICE_LISTEN='0.0.0.0:80'",
    ]);
    expect(readFileSync(join(folder, "secrets", "master-key"), "utf8")).toBe(secret);
  });
});

test.each([[[]], [["SLUICE_ADMIN_EMAIL=it's me"]], [["--help"]]])(
  "the setup rejects %j and writes nothing",
  (words) => {
    withSetup((setUp, folder) => {
      expect(setUp(...words)).toBe(2);
      expect(() => statSync(join(folder, ".env"))).toThrow();
    });
  },
);

test("git ignores an installation's variables and secrets", () => {
  const ignored = readFileSync(join(root, ".gitignore"), "utf8").split("\n");
  expect(ignored).toContain("/deploy/.env");
  expect(ignored).toContain("/deploy/secrets/");
});

test("README, quickstart and deployment show one docker run command with what the image needs", () => {
  const shown = ["README.md", "docs/quickstart.md", "docs/deployment.md"].map((page) => {
    const text = readFileSync(join(root, page), "utf8");
    return /^docker run (?:.*\\\n)*.*/m.exec(text)?.[0];
  });
  expect(new Set(shown).size).toBe(1);
  const command = shown[0] ?? "";
  const words = [...command.matchAll(/--env ([A-Z_]+)=('[^']*'|\S+)/g)];
  const variables = Object.fromEntries(words.map(([, name = "", value = ""]) => [name, value.replaceAll("'", "")]));
  const environment = readEnvironment({ ...imageVariables(), ...variables });
  expect(environment.warnings).toEqual([]);
  expect(environment.administrator?.email).toBe("you@example.com");
  expect(command).toContain(`--volume sluice:${environment.dataDir} `);
  expect(command).toContain(`--publish 127.0.0.1:8787:${environment.port} `);
  expect(command).toEndWith("\n  sluice:local");
  expect(textOf("Containerfile")).toEndWith('ENTRYPOINT ["/usr/local/bin/sluice"]\nCMD ["serve"]\n');
});

/** The script finds its folder from its own path. */
function withSetup(run: (setUp: (...words: readonly string[]) => number, folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), "sluice-setup-"));
  try {
    cpSync(join(deploy, "make-secrets.mjs"), join(folder, "make-secrets.mjs"));
    const program = [process.execPath, "--no-env-file", join(folder, "make-secrets.mjs")];
    run((...words) => Bun.spawnSync([...program, ...words], { stderr: "ignore", env: {} }).exitCode, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function variablesOf(file: string): Readonly<Record<string, string>> {
  const lines = readFileSync(file, "utf8").matchAll(/^([A-Z0-9_]+)='([^']*)'$/gm);
  return Object.fromEntries([...lines].map(([, name = "", value = ""]) => [name, value]));
}

/** As Compose does: `${NAME:-other}`, and an error for `${NAME:?why}` without a value. */
function interpolated(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/(?<!\$)\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, other: string) => {
    const value = variables[name] ?? "";
    if (value === "" && kind === "?") throw new Error(`required variable ${name} is missing a value: ${other}`);
    return value === "" ? other : value;
  });
}
