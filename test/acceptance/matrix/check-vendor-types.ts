import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../child.ts";
import { type Literal, vendorImports, withoutDifferences } from "./vendor-literals.ts";

/** Compiler errors of the literals that do not match their vendor's type. */
export async function checkVendorTypes(literals: readonly Literal[]): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-vendor-types-"));
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["answers.ts"] }));
    const first = vendorImports.split("\n").length;
    const lines = literals.map(
      (literal, index) => `export const v${index}: ${literal.type} = ${literalText(withoutDifferences(literal))};`,
    );
    writeFileSync(join(folder, "answers.ts"), `${vendorImports}\n${lines.join("\n")}\n`);
    const compiler = join(root, "node_modules", ".bin", "tsc");
    const done = Bun.spawn([compiler, "--noEmit", "--checkers", "1", "--pretty", "false", "-p", "tsconfig.json"], {
      cwd: folder,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, errors, status] = await Promise.all([done.stdout.text(), done.stderr.text(), done.exited]);
    const faults = faultsIn(output, (line) => literals[line - first - 1]);
    if (status !== 0 && faults.length === 0) throw new Error(`the compiler failed: ${output}${errors}`);
    return faults;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const compilerOptions = {
  target: "esnext",
  module: "preserve",
  moduleResolution: "bundler",
  lib: ["esnext", "dom", "dom.asynciterable"],
  types: [],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

/** JSON as TypeScript on one line; line separators must be escaped. */
function literalText(value: unknown): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function faultsIn(output: string, literalAt: (line: number) => Literal | undefined): readonly string[] {
  const found: string[] = [];
  const reported = new Set<Literal | undefined>();
  for (const line of output.split("\n")) {
    const at = /^answers\.ts\((\d+),\d+\): error (.*)$/.exec(line);
    if (at === null) {
      // Indented lines give details of the error before.
      if (!line.startsWith(" ") && line.includes("error TS")) found.push(line);
      continue;
    }
    const literal = literalAt(Number(at[1]));
    // One error per answer is enough.
    if (reported.has(literal)) continue;
    reported.add(literal);
    found.push(`${literal?.type} from ${literal?.from}: ${at[2]} in ${JSON.stringify(literal?.json).slice(0, 800)}`);
  }
  return found;
}

/** One literal for each distinct shape: values that do not affect the type are ignored. */
export function distinct(literals: readonly Literal[]): readonly Literal[] {
  const seen = new Map<string, Literal>();
  for (const literal of literals) {
    const shape = JSON.stringify(literal.json, (name: string, value: unknown) => {
      if (typeof value === "number") return 0;
      return typeof value === "string" && !typeRelevant.has(name) ? "" : value;
    });
    const key = `${literal.type} ${literal.from} ${shape}`;
    if (!seen.has(key)) seen.set(key, literal);
  }
  return [...seen.values()];
}

/** Fields with a text that affects the type. */
const typeRelevant: ReadonlySet<string> = new Set([
  "type",
  "object",
  "role",
  "status",
  "phase",
  "code",
  "reason",
  "finish_reason",
  "stop_reason",
  "finishReason",
  "blockReason",
  "modality",
  "mimeType",
  "service_tier",
  "tool_choice",
  "truncation",
  "effort",
  "summary",
  "detail",
  "verbosity",
  "category",
]);
