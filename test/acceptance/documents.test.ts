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
 * What the pages show is done as it is printed, in their order, in a clone with one gateway for all of them. Filled in: its
 * address, `<id>` with that of a key, and what else stands in angle brackets with the key's secret. `npm run sluice -- …`
 * and `sluice …` are the program itself: that npm starts the same is tried once. gateway/test/documents.test.ts does what
 * needs no gateway.
 */
const last = "docs/upgrade.md"; // it puts an earlier database back
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

/** What pages take to be there: keys and tokens, a workspace with somebody in it, and models by the names that they call. */
async function prepare(): Promise<void> {
  const told = async (line: string) => JSON.parse((await done(`sluice ${line} --json`, env)).output);
  const token = String((await told("token create --name documents --administrator"))["secret"]);
  admin = AdminClient.withToken(`http://${address}`, token);
  const make = (path: string, body: unknown) => admin.tell("POST", path, body);
  await make("/api/workspaces", { slug: "acme" });
  await make("/api/workspaces/acme/groups", { name: "ci" });
  for (const [name, type, served] of models) {
    const deployments = [{ provider: "demo", upstream_model: served }];
    await make("/api/models", { name, type, deployments });
  }
  await admin.tell("PUT", "/api/settings/oidc/corp", {
    ...{ name: "Corp", issuer: "https://id.example.com", client_id: "sluice", client_secret: "a-secret" },
    ...{ allowed_domains: ["example.com"], scopes: ["groups"], offline_access: true },
  });
  const { secret } = await newKey("documents");
  const member = await told("user create grace@example.com --workspace acme --role member");
  const service = await newKey("nightly-service", aDay());
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
const aDay = () => ({ service: true, expires_at: Date.now() + 86_400_000 });
let group: string;
let asset: string;

async function asKey(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
  const headers = { authorization: `Bearer ${env["SLUICE_KEY"]}`, "content-type": "application/json" };
  const answer = await fetch(`http://${address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

/** Name, type, and which of the demo's serves it. */
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
  // What a page names on other machines is not asked: there is no such proxy.
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
  const made = await admin.tell("POST", "/api/workspaces/acme/keys", { name, ...more });
  return { id: (made["key"] as { id: string }).id, secret: String(made["secret"]) };
}

interface Done {
  readonly status: number;
  readonly output: string;
  /** What the lines have set, for those that follow on the page. */
  readonly variables: Readonly<Record<string, string>>;
}

/** Runs lines as a shell does that ends with the first failure. */
async function done(lines: string, variables: Readonly<Record<string, string>>): Promise<Done> {
  const told = join(clone, "variables");
  const shell = Bun.spawn(["bash", "-aeuo", "pipefail", "-c", `trap 'env -0 > "${told}"' EXIT\n${lines}`], {
    cwd: clone,
    env: { ...variables, PATH: `${tools}:${variables["PATH"]}` },
    // Asked for by `--password-stdin`.
    stdin: new TextEncoder().encode(`${password}\n`),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, complaint, status] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  const pairs = readFileSync(told, "utf8")
    .split("\0")
    .filter((one) => one.includes("="));
  const after = Object.fromEntries(
    pairs.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]),
  );
  return {
    status,
    output: status === 0 ? output : `${output}${complaint}`,
    variables: { ...after, PATH: variables["PATH"] ?? "" },
  };
}

let made = 0;
async function filled(text: string): Promise<string> {
  let result = text
    .replaceAll("localhost:8787", address)
    .replaceAll(/https:\/\/(?:gateway|ai)\.example\.com/g, `http://${address}`)
    .replaceAll("sk-sluice-…", env["SLUICE_KEY"] ?? "")
    .replaceAll("ag_…", group)
    .replaceAll("as_…", asset)
    .replaceAll("usr_…", env["MEMBER"] ?? "")
    .replaceAll("/backups/", "backups/");
  if (result.includes("<id>")) {
    const more = result.includes("token service") ? aDay() : {};
    result = result.replaceAll("<id>", (await newKey(`listed ${made++}`, more)).id);
  }
  return result.replaceAll(/<[a-z][^<>\n]* [^<>\n]*>/g, env["SLUICE_KEY"] ?? "");
}

/** A file of a page stands where its first line says. */
function written({ text }: Snippet): void {
  const name = /^# (\S+\.ya?ml)$/m.exec(text)?.[1];
  if (name !== undefined) writeFileSync(join(clone, name), text);
  for (const [, variable = ""] of text.matchAll(/\$\{(\w+)\}/g)) env[variable] ??= "sk-of-the-documents-000000000000";
}

/** All programs of the pages in one process, one after the other: what each said, and what it failed of. */
let programsDone: Promise<Readonly<Record<string, string>>> | null = null;
async function runPrograms(): Promise<Readonly<Record<string, string>>> {
  const runner = join(clone, "snippets", "run.ts");
  const imports = pagesWithPrograms.map(async (page, place) => {
    const text = await filled(programOf(page));
    writeFileSync(join(clone, "snippets", `page-${place}.ts`), text);
    return `await tell(${JSON.stringify(page)}, () => import("./page-${place}.ts"));`;
  });
  writeFileSync(
    runner,
    `${teller}\n${(await Promise.all(imports)).join("\n")}\nwriteFileSync("told.json", JSON.stringify(told));\n`,
  );
  const result = await done(`"${process.execPath}" --no-env-file "${runner}"`, env);
  expect({ ...result, variables: {} }).toMatchObject({ status: 0 });
  return JSON.parse(readFileSync(join(clone, "told.json"), "utf8"));
}
const teller = `import { writeFileSync } from "node:fs";
const told: Record<string, string> = {};
async function tell(page: string, load: () => Promise<unknown>) {
  const lines: string[] = [];
  const write = (text: unknown) => lines.push(String(text)) > 0;
  console.log = write;
  process.stdout.write = write as typeof process.stdout.write;
  const failed = await load().then(() => "", (thrown) => "FAILED " + thrown);
  told[page] = lines.join("") + failed;
}`;
/** The pieces of a page are one program. */
const programOf = (page: string): string =>
  snippetsOf(page)
    .filter(({ language, notRun }) => language === "ts" && notRun === null)
    .map(({ text }) => text)
    .join("\n");
/** What is shown of the gateway's own modules is compiled in gateway/test/documents.test.ts. */
const pagesWithPrograms = pages.filter((page) => page !== "docs/adapters.md" && programOf(page) !== "");

test("`npm run sluice -- …` is the program itself", async () => {
  const lines = `npm run --silent sluice -- --help`;
  const byNpm = await done(`PATH="${env["PATH"]}"; ${lines}`, env);
  const { status, output } = await done(lines, env);
  expect([byNpm.status, byNpm.output]).toEqual([status, output]);
  expect(status).toBe(0);
});

for (const page of pages) {
  const snippets = snippetsOf(page).filter(({ notRun }) => notRun === null);
  if (!snippets.some(({ language }) => language === "sh") && !pagesWithPrograms.includes(page)) continue;
  describe(page, () => {
    /** What its lines have set until now. */
    let set: Readonly<Record<string, string>> = {};
    let files: Snippet[] = [];
    for (const snippet of snippets) {
      if (snippet.language === "yaml") files.push(snippet);
      if (snippet.language !== "sh") continue;
      const before = files;
      files = [];
      test(`${snippet.at} does what it says`, async () => {
        for (const file of before) written(file);
        if (snippet.run === "stopped") await stop();
        const apart = snippet.run === "apart" ? { SLUICE_DATA_DIR: join(clone, "apart") } : {};
        const { status, output, variables } = await done(await filled(snippet.text), { ...env, ...set, ...apart });
        expect({ status, output }).toMatchObject({ status: 0 });
        // A call that is refused is no failure of curl's.
        expect(output).not.toContain('"error":{');
        if (snippet.run === null) set = variables;
        if (snippet.run === "stopped") await start();
      });
    }
    if (!pagesWithPrograms.includes(page)) return;
    test("its programs do what they say", async () => {
      programsDone ??= runPrograms();
      const said = (await programsDone)[page];
      expect(said).not.toContain("FAILED");
      if (page === "docs/quickstart.md") expect(said).toContain("offline demo");
    });
  });
}
