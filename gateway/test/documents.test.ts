import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { errorCodes, openApiDocument } from "@sluice/contract";
import Ajv2020 from "ajv/dist/2020.js";
import { parse as readYaml } from "yaml";
import { ConfigInvalid } from "#config/index.ts";
import { makeAdminTokenSecret } from "#identity/index.ts";
import { prepare } from "../../site/prepare.mjs";
import { documentPages, type Snippet, snippetsOf, textOfPage } from "../../test/acceptance/document-commands.ts";
import { parseConfig } from "../src/config/parse-config.ts";
import { kindCheck } from "../src/main/config-checks.ts";
import { webhookHeaders } from "../src/tasks/deliver/deliveries.ts";
import { cliReferencePage, withCommands } from "./write-cli-reference.ts";

/**
 * Checks the documents' snippets as far as possible without a gateway. test/acceptance/documents.test.ts checks the rest in
 * a gateway and a shell.
 */
const root = join(import.meta.dir, "..", "..");
const pages = documentPages();
const snippets = pages.flatMap(snippetsOf);
/** How snippets are checked, by language. */
const tried: Readonly<Record<string, string>> = {
  "": "shown: output of programs",
  mermaid: "shown",
  sh: "run in test/acceptance/documents.test.ts",
  ts: "compiled here, and run there",
  js: "run here",
  yaml: "read as a config file here",
  json: "read here, and checked against the API's description if it names an operation",
  toml: "read here",
  nginx: "run in gateway/test/edge/behind-nginx.test.ts",
};

const sentence = /^[^<>]{12,}$/;

test("each snippet is tested or has a reason why not, and tests named in a reason exist", () => {
  const untried = snippets.filter(({ language, notRun }) => notRun === null && !(language in tried));
  expect(untried.map(({ at, language }) => `${at}: ${language}`)).toEqual([]);
  for (const { at, notRun } of snippets) {
    if (notRun === null) continue;
    expect(notRun, at).toMatch(sentence);
    for (const [file] of notRun.matchAll(/[\w./-]+\.test\.ts/g)) expect(existsSync(join(root, file)), file).toBe(true);
  }
});

test("finds every fence of every page", () => {
  for (const page of pages) {
    const fences = textOfPage(page).match(/^[ \t>]*(?:```|~~~)/gm)?.length ?? 0;
    expect([page, snippetsOf(page).length * 2]).toEqual([page, fences]);
  }
});

const configs = snippets.filter(({ language, notRun }) => language === "yaml" && notRun === null);

test("the gateway accepts each configuration in the documents", () => {
  const wrong = configs.flatMap(({ at, text }) => {
    try {
      parseConfig(whole(text), at, variablesOf(text), [kindCheck]);
      return [];
    } catch (thrown) {
      if (!(thrown instanceof ConfigInvalid)) throw thrown;
      return thrown.problems.map(({ line, path, message }) => `${at} line ${line}: ${path} ${message}`);
    }
  });
  expect(wrong).toEqual([]);
});

test("snippets for other programs are valid YAML, TOML or JSON", () => {
  const read: Readonly<Record<string, (text: string) => unknown>> = {
    yaml: readYaml,
    toml: Bun.TOML.parse,
    json: (text) => JSON.parse(withoutDots(text)),
  };
  for (const { at, language, text } of snippets) expect(() => read[language]?.(text), at).not.toThrow();
});

test("each API example matches the API's description", () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema({ $id: "https://sluice.test/", components: openApiDocument(null).components });
  const wrong = snippets.flatMap(({ at, schema, text }) => {
    if (schema === null) return [];
    const fits = ajv.compile({ $ref: `https://sluice.test/#/components/schemas/${schema}` });
    return fits(JSON.parse(withoutDots(text))) ? [] : [`${at}: ${ajv.errorsText(fits.errors)}`];
  });
  expect(wrong).toEqual([]);
});

/** `[…]` is a list without contents, `"…": "as GET gives it"` an omitted member. */
const withoutDots = (text: string): string => text.replaceAll("[…]", "[]");

interface Shown {
  readonly providers?: readonly { readonly id: string }[];
  readonly models?: readonly { readonly deployments: readonly { readonly provider: string }[] }[];
}

/** A configuration with only models uses accounts of other snippets: `openai-main` has the type `openai`. */
function whole(text: string): string {
  const shown: Shown = readYaml(text) ?? {};
  if (shown.providers !== undefined || shown.models === undefined) return text;
  const ids = new Set(shown.models.flatMap(({ deployments }) => deployments.map(({ provider }) => provider)));
  const providers = [...ids].map((id) => ({ id, kind: id.replace(/-main$/, ""), api_key: "sk-of-the-documents" }));
  return JSON.stringify({ ...shown, providers });
}

/** A plausible value for every variable in a configuration. */
function variablesOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => [name, oneOf(name)]));
}

function oneOf(name: string): string {
  if (name.endsWith("_SHA256")) return "0".repeat(64);
  if (name.startsWith("INSIDE_")) return pem(name === "INSIDE_KEY" ? "key" : "cert");
  return name === "TERRAFORM_TOKEN" ? adminToken : `sk-of-the-documents-${name.toLowerCase()}`;
}
const pem = (what: "key" | "cert"): string =>
  readFileSync(join(import.meta.dir, "fixtures", "tls", `upstream.example.${what}.pem`), "utf8");
const adminToken = makeAdminTokenSecret(new Uint8Array(32));

test("each program in the documents compiles, including the guide's adapter and provider type", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-pages-"));
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    for (const page of pages) {
      const parts = snippetsOf(page).filter(({ language, notRun }) => language === "ts" && notRun === null);
      const name = page.replaceAll(/\W/g, "-");
      if (page === guide) for (const [place, part] of parts.entries()) write(folder, place, part);
      else if (parts.length > 0) writeFileSync(join(folder, `${name}.ts`), parts.map(({ text }) => text).join("\n"));
    }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(compilerOptions));
    const tsc = join(root, "node_modules", ".bin", "tsc");
    // Checkers in parallel repeat each other's work.
    const compiler = Bun.spawn([tsc, "-p", folder, "--checkers", "1"], { cwd: folder, stdout: "pipe" });
    // The gateway's own files are checked with stricter options elsewhere, so their errors are ignored here.
    const errors = (await compiler.stdout.text()).split("\n").filter((line) => /^(?:[\w-]+\.ts\(|error)/.test(line));
    expect(errors).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** As strict as most projects. */
const compilerOptions = {
  extends: join(root, "tsconfig.base.json"),
  compilerOptions: {
    typeRoots: [join(root, "node_modules", "@types")],
    noPropertyAccessFromIndexSignature: false,
    exactOptionalPropertyTypes: false,
    noUnusedLocals: false,
  },
  include: ["*.ts"],
};

/** The files of docs/adapters.md at the paths that the guide gives them. */
const guide = "docs/adapters.md";
const guided = ["gateway/src/providers/video/acme.ts", "gateway/src/providers/kinds/acme.ts"];
function write(folder: string, place: number, { at, text }: Snippet): void {
  const path = guided[place];
  if (path === undefined) throw new Error(`${at}: where does it belong?`);
  const here = (file: string): string => join(folder, file.replaceAll("/", "-"));
  const moved = text.replaceAll(/(?<= from ")[#.][^"]+/g, (name) => {
    const target = name.startsWith("#")
      ? `gateway/src/${name.slice(1)}`
      : relative(root, join(root, dirname(path), name));
    return guided.includes(target) ? here(target) : join(root, target);
  });
  writeFileSync(here(path), moved);
}

test("the documented webhook check accepts our webhooks and nothing else", async () => {
  const [check] = snippets.filter(({ language }) => language === "js");
  const folder = mkdtempSync(join(tmpdir(), "sluice-pages-"));
  writeFileSync(join(folder, "check.mjs"), check?.text ?? "");
  const { isOurs } = await import(join(folder, "check.mjs")).finally(() => rmSync(folder, { recursive: true }));
  const secret = `whsec_${Buffer.from("0123456789abcdef0123456789abcdef").toString("base64")}`;
  const headers = webhookHeaders("msg_1", "{}", [`whsec_${btoa("another")}`, secret], Date.now());
  expect(isOurs(headers, "{}", secret)).toBe(true);
  expect(isOurs(headers, "{ }", secret)).toBe(false);
  expect(isOurs(webhookHeaders("msg_1", "{}", [secret], 0), "{}", secret)).toBe(false);
});

test("every link of every page leads to an existing file and heading", () => {
  const dead = pages.flatMap((page) => {
    const text = prose(page);
    return [...text.matchAll(/\]\(([^()\s]+)\)/g)].flatMap(([, target = ""]) => {
      if (/^(?:https?|mailto):/.test(target)) return [];
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : relative(root, join(root, dirname(page), path));
      if (!existsSync(join(root, file))) return [`${page}: ${target}`];
      return anchor === undefined || anchorsOf(file).has(anchor) ? [] : [`${page}: ${target}`];
    });
  });
  expect(dead).toEqual([]);
});

function prose(page: string): string {
  return textOfPage(page)
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, "")
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ""));
}

test("the site has every page, and all of its links lead somewhere", () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-pages-"));
  try {
    prepare(folder);
    expect(readFileSync(join(folder, "index.md"), "utf8")).toContain("(./quickstart.md)");
    expect(readFileSync(join(folder, "providers", "ark.md"), "utf8")).toContain(
      "(../assets.md#volcengine-and-byteplus)",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const anchors = new Map<string, ReadonlySet<string>>();
/** The anchors of the headings, as GitHub creates them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const cached = anchors.get(page);
  if (cached !== undefined) return cached;
  const made = new Set<string>();
  for (const [, heading = ""] of textOfPage(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
    let unique = anchor;
    for (let times = 1; made.has(unique); times++) unique = `${anchor}-${times}`;
    made.add(unique);
  }
  anchors.set(page, made);
  return made;
}

test("the error table of the API has each code with its status", () => {
  const [, table = ""] = /\| status \| code \| what it means \|\n([\s\S]+?)\n\n/.exec(textOfPage("docs/api.md")) ?? [];
  const rows = [...table.matchAll(/^\| (\d{3}) \| (.+?) \|/gm)].flatMap(([, status = "", codes = ""]) =>
    [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`),
  );
  expect(rows.toSorted()).toEqual(
    Object.entries(errorCodes)
      .map(([code, { status }]) => `${status} ${code}`)
      .toSorted(),
  );
});

test("troubleshooting has a heading for each error code of the API", () => {
  const pageOf = (name: string) => readFileSync(join(root, "docs", name), "utf8");
  const rows = pageOf("api.md").matchAll(/^\| [45]\d\d \| `(\w+)` \|/gm);
  const codes = [...new Set([...rows].map(([, code]) => code))];
  expect(codes.length).toBeGreaterThan(30);
  const headings = [...pageOf("troubleshooting.md").matchAll(/^## .*$/gm)].flatMap(([heading]) =>
    [...heading.matchAll(/`(\w+)`/g)].map(([, code]) => code),
  );
  expect(headings.toSorted()).toEqual(codes.toSorted());
});

test("docs/cli.md has the help of every command (else run gateway/test/write-cli-reference.ts)", async () => {
  const page = readFileSync(cliReferencePage, "utf8");
  expect(page).toBe(await withCommands(page));
});

test("docs/README.md links every page of the documents, except folders that have an index", () => {
  const index = readFileSync(join(root, "docs/README.md"), "utf8");
  const linked = new Set([...index.matchAll(/\]\(([^()#\s]+)/g)].map(([, target = ""]) => join("docs", target)));
  const indexed = new Set(["docs/clients", "docs/providers", "docs/decisions"]);
  const missing = pages.filter(
    (page) => page.startsWith("docs/") && page !== "docs/README.md" && !linked.has(page) && !indexed.has(dirname(page)),
  );
  expect(missing).toEqual([]);
});

test("documented error texts match the source", () => {
  const source = [...new Bun.Glob("gateway/src/**/*.ts").scanSync(root)]
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n")
    .replaceAll("\\`", "`");
  const quotes = [...textOfPage("docs/troubleshooting.md").matchAll(/^> (.+)$/gm)].flatMap(([, line = ""]) =>
    line.split(" · "),
  );
  const [, startup = ""] = /## Startup errors\n([\s\S]+?)\n## /.exec(textOfPage("docs/operations/running.md")) ?? [];
  const rows = [...startup.matchAll(/^\| (.+?) \|/gm)].map(([, message = ""]) => message).slice(2);
  // A text with example values has no literal form in the source.
  const literals = [...quotes.filter((quote) => !/\d/.test(quote)), ...rows].flatMap((text) => text.split("…"));
  const parts = literals.map((part) => part.trim()).filter((part) => part.length > 12);
  expect(parts.length).toBeGreaterThan(25);
  expect(parts.filter((part) => !source.includes(part))).toEqual([]);
});
