import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment } from "../bare-environment.ts";
import { programs, shellCommandOf } from "../programs.ts";
import { until } from "../until.ts";
import { AdminClient } from "./admin-client.ts";
import { type Child, root, startChild } from "./child.ts";
import { documentPages, type Snippet, snippetsOf } from "./document-commands.ts";
import { freePort } from "./free-port.ts";

/**
 * Runs the snippets of all pages as printed and in order, in a copy of the repository with one gateway. Addresses, `<id>` and other
 * placeholders in angle brackets are replaced by real values. `npm run sluice -- …` and `sluice …` start the program directly; one
 * test checks that npm starts the same. gateway/test/documents.test.ts tests the snippets that need no gateway.
 */
const last = "docs/upgrade.md"; // restores an earlier database
const pages = [...documentPages().filter((page) => page !== last), last];

const clone = mkdtempSync(join(tmpdir(), "sluice-documents-"));
const tools = join(clone, "tools");
let address: string;
let env: Record<string, string>;
let gateway: Child;
let admin: AdminClient;
beforeAll(async () => {
  for (const name of readdirSync(root).filter((one) => one !== "data" && !one.startsWith(".git"))) {
    symlinkSync(join(root, name), join(clone, name));
  }
  for (const folder of ["tools", "home", "backups", "snippets"]) mkdirSync(join(clone, folder));
  writeProgram("sluice", `exec ${shellCommandOf(programs.cli)} "$@"`);
  writeProgram("npm", `while [ "$1" != -- ]; do shift || exit 64; done; shift; exec sluice "$@"`);
  const port = await freePort();
  address = `127.0.0.1:${port}`;
  env = {
    ...bareEnvironment(),
    HOME: join(clone, "home"),
    SLUICE_PORT: String(port),
    SLUICE_DRAIN_GRACE_MS: "0",
    SLUICE_DATA_DIR: join(clone, "data"),
  };
  await start({ SLUICE_ADMIN_EMAIL: "root@example.com", SLUICE_ADMIN_PASSWORD: password });
  await prepare();
});
afterAll(async () => {
  gateway?.signal("SIGKILL");
  await gateway?.exited;
  rmSync(clone, { recursive: true, force: true });
});

/** Creates what the pages assume: keys and tokens, a workspace with a member, and models with the names that they use. */
async function prepare(): Promise<void> {
  const cliJson = async (line: string) => JSON.parse((await runShell(`sluice ${line} --json`, env)).output);
  const token = String((await cliJson("token create --name documents --administrator"))["secret"]);
  admin = AdminClient.withToken(`http://${address}`, token);
  const post = (path: string, body: unknown) => admin.json("POST", path, body);
  await post("/api/workspaces", { slug: "acme" });
  await post("/api/workspaces/acme/groups", { name: "ci" });
  for (const [name, type, served] of models) {
    const deployments = [{ provider: "demo", upstream_model: served }];
    await post("/api/models", { name, type, deployments });
  }
  await admin.json("PUT", "/api/settings/oidc/corp", {
    ...{ name: "Corp", issuer: "https://id.example.com", client_id: "sluice", client_secret: "a-secret" },
    ...{ allowed_domains: ["example.com"], scopes: ["groups"], offline_access: true },
  });
  const { secret } = await newKey("documents");
  const member = await cliJson("user create grace@example.com --workspace acme --role member");
  const service = await newKey("nightly-service", serviceKeyForADay());
  Object.assign(env, {
    ...{ SLUICE: `http://${address}`, SLUICE_KEY: secret, SLUICE_API_KEY: secret, SLUICE_ADMIN_TOKEN: token },
    ...{ WORKSPACE: "acme", MEMBER: member["id"], KEY: service.id },
  });
  symlinkSync(join(root, "docs", "images", "console-home.png"), join(clone, "hero.png"));
  writeFileSync(join(clone, "ada.txt"), password);
  group = String((await asKey("/v1/asset-groups", { platform: "local", name: "props" }))["id"]);
  const hero = { platform: "local", group_id: group, url: "https://example.com/hero.png", asset_type: "Image" };
  asset = String((await asKey("/v1/assets", { ...hero, name: "prop" }))["id"]);
}

const password = "correct horse battery";
const serviceKeyForADay = () => ({ service: true, expires_at: Date.now() + 86_400_000 });
let group: string;
let asset: string;

async function asKey(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const headers = { authorization: `Bearer ${env["SLUICE_KEY"]}`, "content-type": "application/json" };
  const answer = await fetch(`http://${address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

/** Name, type, and the demo model that serves it. */
const models = [
  ["gpt-6.1-sol", "chat", "demo"],
  ["claude-sonnet-5-5", "chat", "demo"],
  ["gemini-3.8-flash", "chat", "demo"],
  ["text-embedding-3-small", "embedding", "demo-embedding"],
  ["gpt-image-1", "image", "demo-image"],
  ["seedance", "video", "demo-video"],
] as const;

function writeProgram(name: string, line: string): void {
  writeFileSync(join(tools, name), `#!/bin/sh\n${line}\n`);
  chmodSync(join(tools, name), 0o755);
}

async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
  // Hosts in the snippets are not contacted, because this proxy does not exist.
  gateway = startChild(programs.cli, ["serve"], { ...env, HTTPS_PROXY: "http://127.0.0.1:9", ...more });
  await until(async () => {
    if (!gateway.running()) throw new Error(gateway.output());
    return await fetch(`http://${address}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
  });
}

async function stop(): Promise<void> {
  gateway.signal("SIGTERM");
  await gateway.exited;
}

async function newKey(name: string, more: object = {}): Promise<{ readonly id: string; readonly secret: string }> {
  const created = await admin.json("POST", "/api/workspaces/acme/keys", { name, ...more });
  return { id: (created["key"] as { id: string }).id, secret: String(created["secret"]) };
}

interface ShellResult {
  readonly status: number;
  readonly output: string;
  /** The variables that the lines have set, for the snippets that follow on the page. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Runs shell lines and stops at the first failure. */
async function runShell(lines: string, variables: Readonly<Record<string, string>>): Promise<ShellResult> {
  const variablesFile = join(clone, "variables");
  const shell = Bun.spawn(["bash", "-aeuo", "pipefail", "-c", `trap 'env -0 > "${variablesFile}"' EXIT\n${lines}`], {
    cwd: clone,
    env: { ...variables, PATH: `${tools}:${variables["PATH"]}` },
    // Read by `--password-stdin`.
    stdin: new TextEncoder().encode(`${password}\n`),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors, status] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  const pairs = readFileSync(variablesFile, "utf8")
    .split("\0")
    .filter((word) => word.includes("="));
  const after = Object.fromEntries(
    pairs.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]),
  );
  return {
    status,
    output: status === 0 ? output : `${output}${errors}`,
    variables: { ...after, PATH: variables["PATH"] ?? "" },
  };
}

let createdKeys = 0;
async function fillPlaceholders(text: string): Promise<string> {
  let result = text
    .replaceAll("localhost:8787", address)
    .replaceAll(/https:\/\/(?:gateway|ai)\.example\.com/g, `http://${address}`)
    .replaceAll("sk-sluice-…", env["SLUICE_KEY"] ?? "")
    .replaceAll("ag_…", group)
    .replaceAll("as_…", asset)
    .replaceAll("usr_…", env["MEMBER"] ?? "")
    .replaceAll("/backups/", "backups/");
  if (result.includes("<id>")) {
    const more = result.includes("token service") ? serviceKeyForADay() : {};
    result = result.replaceAll("<id>", (await newKey(`listed ${createdKeys++}`, more)).id);
  }
  return result.replaceAll(/<[a-z][^<>\n]* [^<>\n]*>/g, env["SLUICE_KEY"] ?? "");
}

/** Writes a YAML snippet to the file that its first line names. */
function writeSnippet({ text }: Snippet): void {
  const name = /^# (\S+\.ya?ml)$/m.exec(text)?.[1];
  if (name !== undefined) writeFileSync(join(clone, name), text);
  for (const [, variable = ""] of text.matchAll(/\$\{(\w+)\}/g)) env[variable] ??= "sk-of-the-documents-000000000000";
}

/** Runs the programs of all pages in one process, one after the other. Resolves to the output or failure of each page. */
let programOutputs: Promise<Readonly<Record<string, string>>> | null = null;
async function runPrograms(): Promise<Readonly<Record<string, string>>> {
  const runner = join(clone, "snippets", "run.ts");
  const imports = pagesWithPrograms.map(async (page, place) => {
    const text = await fillPlaceholders(programOf(page));
    writeFileSync(join(clone, "snippets", `page-${place}.ts`), text);
    return `await runPage(${JSON.stringify(page)}, () => import("./page-${place}.ts"));`;
  });
  writeFileSync(
    runner,
    `${runPageSource}\n${(await Promise.all(imports)).join("\n")}\nwriteFileSync("outputs.json", JSON.stringify(outputs));\n`,
  );
  const result = await runShell(`"${process.execPath}" --no-env-file "${runner}"`, env);
  expect({ ...result, variables: {} }).toMatchObject({ status: 0 });
  return JSON.parse(readFileSync(join(clone, "outputs.json"), "utf8"));
}
const runPageSource = `import { writeFileSync } from "node:fs";
const outputs: Record<string, string> = {};
async function runPage(page: string, load: () => Promise<unknown>) {
  const lines: string[] = [];
  const write = (text: unknown) => lines.push(String(text)) > 0;
  console.log = write;
  process.stdout.write = write as typeof process.stdout.write;
  const failed = await load().then(() => "", (thrown) => "FAILED " + thrown);
  outputs[page] = lines.join("") + failed;
}`;
/** All pieces of a page together are one program. */
const programOf = (page: string): string =>
  snippetsOf(page)
    .filter(({ language, notRun }) => language === "ts" && notRun === null)
    .map(({ text }) => text)
    .join("\n");
/** Examples of the gateway's own modules are compiled in gateway/test/documents.test.ts instead. */
const pagesWithPrograms = pages.filter((page) => page !== "docs/adapters.md" && programOf(page) !== "");

test("`npm run sluice -- …` starts the program with its arguments", async () => {
  const lines = `npm run --silent sluice -- --help`;
  const byNpm = await runShell(`PATH="${env["PATH"]}"; ${lines}`, env);
  const { status, output } = await runShell(lines, env);
  expect([byNpm.status, byNpm.output]).toEqual([status, output]);
  expect(status).toBe(0);
});

for (const page of pages) {
  const snippets = snippetsOf(page).filter(({ notRun }) => notRun === null);
  if (!snippets.some(({ language }) => language === "sh") && !pagesWithPrograms.includes(page)) continue;
  describe(page, () => {
    /** The variables that earlier snippets of the page have set. */
    let set: Readonly<Record<string, string>> = {};
    let files: Snippet[] = [];
    for (const snippet of snippets) {
      if (snippet.language === "yaml") files.push(snippet);
      if (snippet.language !== "sh") continue;
      const before = files;
      files = [];
      test(`${snippet.at} runs without an error`, async () => {
        for (const file of before) writeSnippet(file);
        if (snippet.run === "stopped") await stop();
        const separate = snippet.run === "apart" ? { SLUICE_DATA_DIR: join(clone, "apart") } : {};
        const { status, output, variables } = await runShell(await fillPlaceholders(snippet.text), {
          ...env,
          ...set,
          ...separate,
        });
        expect({ status, output }).toMatchObject({ status: 0 });
        // curl does not fail when a call is refused.
        expect(output).not.toContain('"error":{');
        if (snippet.run === null) set = variables;
        if (snippet.run === "stopped") await start();
      });
    }
    if (!pagesWithPrograms.includes(page)) return;
    test("its programs run without an error", async () => {
      programOutputs ??= runPrograms();
      const output = (await programOutputs)[page];
      expect(output).not.toContain("FAILED");
      if (page === "docs/quickstart.md") expect(output).toContain("offline demo");
    });
  });
}
