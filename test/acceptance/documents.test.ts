import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bareEnvironment } from "../bare-environment.ts";
import { programs } from "../programs.ts";
import { until } from "../until.ts";
import { type Child, root, runChild, startChild } from "./child.ts";
import { type Snippet, snippetsOf } from "./document-commands.ts";
import { freePort } from "./free-port.ts";

/**
 * What these documents show is done as it is printed, in their order, in a clone whose gateway has just been started for the
 * first time. Filled in: its port, `<id>` with that of a key, and what else stands in angle brackets with the key's secret.
 */
const documents = ["README.md", "docs/quickstart.md", "docs/deployment.md", "docs/upgrade.md"];
const snippets = documents.flatMap(snippetsOf);
/** Languages of which nothing is to be done: pictures and what programs print. */
const shown = new Set(["", "mermaid"]);

const clone = mkdtempSync(join(tmpdir(), "sluice-documents-"));
let port: number;
let env: Record<string, string>;
let gateway: Child;
beforeAll(async () => {
  for (const name of readdirSync(root).filter((one) => one !== "data" && !one.startsWith(".git"))) {
    symlinkSync(join(root, name), join(clone, name));
  }
  port = await freePort();
  env = {
    ...bareEnvironment(),
    SLUICE_PORT: String(port),
    SLUICE_DRAIN_GRACE_MS: "0",
    SLUICE_DATA_DIR: join(clone, "data"),
  };
  mkdirSync(join(clone, "home"));
  env["HOME"] = join(clone, "home");
  // `token create` needs somebody whose token it is.
  await start({ SLUICE_ADMIN_EMAIL: "ada@example.com", SLUICE_ADMIN_PASSWORD: "correct horse battery" });
  env["SLUICE_KEY"] = (await newKey("documents")).secret;
});
afterAll(async () => {
  gateway?.signal("SIGKILL");
  await gateway?.exited;
  rmSync(clone, { recursive: true, force: true });
});

async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
  gateway = startChild(programs.cli, ["serve"], { ...env, ...more });
  await until(async () => {
    if (!gateway.running()) throw new Error(gateway.output());
    return await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
  });
}

async function stop(): Promise<void> {
  gateway.signal("SIGTERM");
  await gateway.exited;
}

async function newKey(name: string): Promise<{ readonly id: string; readonly secret: string }> {
  const words = ["key", "create", "--workspace", "default", "--name", name, "--json"];
  return JSON.parse((await runChild(programs.cli, words, env)).stdout);
}

/** Runs lines as a shell does that ends with the first failure. */
async function done(lines: string): Promise<{ readonly status: number; readonly output: string }> {
  const shell = Bun.spawn(["bash", "-euo", "pipefail", "-c", lines], {
    cwd: clone,
    env,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, complaint, status] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  return { status, output: status === 0 ? output : `${output}${complaint}` };
}

async function filled(text: string): Promise<string> {
  let result = text.replaceAll("localhost:8787", `127.0.0.1:${port}`);
  if (/<id>/.test(result)) {
    result = result.replaceAll("<id>", (await newKey("listed")).id);
  }
  return result.replaceAll(/<[a-z][^<>\n]* [^<>\n]*>/g, env["SLUICE_KEY"] ?? "");
}

const tried: Readonly<Record<string, (snippet: Snippet) => Promise<void>>> = {
  async sh(snippet) {
    if (snippet.stopped) await stop();
    const result = await done(await filled(snippet.text));
    expect(result).toMatchObject({ status: 0 });
    // A call that is refused is no failure of curl's.
    expect(result.output).not.toContain('"error":{');
    if (snippet.stopped) await start();
  },
  async yaml(snippet) {
    const name = /^# (\S+\.yaml)$/m.exec(snippet.text)?.[1] ?? "snippet.yaml";
    writeFileSync(join(clone, name), snippet.text);
    const variables = [...snippet.text.matchAll(/\$\{(\w+)\}/g)].map(
      ([, one]) => `${one}=sk-of-the-documents-000000000000`,
    );
    expect(await done(`${variables.join(" ")} npm run --silent sluice -- check ${name}`)).toMatchObject({ status: 0 });
    if (variables.length > 0) for (const one of variables) env[one.split("=")[0] ?? ""] = one.split("=")[1] ?? "";
  },
  async ts(snippet) {
    writeFileSync(join(clone, "snippet.ts"), await filled(snippet.text));
    const result = await done(`${process.execPath} --no-env-file snippet.ts`);
    expect(result).toMatchObject({ status: 0 });
    expect(result.output).toContain("offline demo");
  },
};

test("each snippet is of a language that is tried, or says why it is not run", () => {
  const untried = snippets.filter(
    ({ language, notRun }) => !shown.has(language) && notRun === null && !(language in tried),
  );
  expect(untried.map(({ at, language }) => `${at}: ${language}`)).toEqual([]);
  for (const { at, notRun } of snippets) expect(notRun === null || notRun.length > 10, at).toBe(true);
  // All fences of a document are seen.
  for (const document of documents) {
    const fences = readFileSync(join(root, document), "utf8").match(/^```/gm)?.length;
    expect(snippetsOf(document).length * 2).toBe(fences ?? 0);
  }
});

for (const snippet of snippets.filter(({ language, notRun }) => !shown.has(language) && notRun === null)) {
  test(`${snippet.at} does what it says`, async () => {
    await tried[snippet.language]?.(snippet);
  });
}
