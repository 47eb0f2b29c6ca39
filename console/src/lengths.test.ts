import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { parseSync } from "vite";

const functionLinesMax = 100;
const fileLinesMax = 400;

interface Long {
  readonly name: string;
  readonly lines: number;
}

/** Functions of a file, including components, that are too long to read at once. */
function longFunctions(file: string, code: string): readonly Long[] {
  const found: Long[] = [];
  const visit = (node: unknown, name: string): void => {
    if (Array.isArray(node)) for (const each of node) visit(each, name);
    if (node === null || typeof node !== "object" || Array.isArray(node)) return;
    const { type, start, end, id } = node as { type?: string; start: number; end: number; id?: { name?: string } };
    const own = id?.name ?? name;
    if (/^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type ?? "")) {
      const lines = code.slice(start, end).split("\n").length;
      if (lines > functionLinesMax) found.push({ name: own, lines });
    }
    for (const inner of Object.values(node)) visit(inner, own);
  };
  visit(parseSync(file, code).program, "");
  return found;
}

test("components and functions have at most 100 lines, files 400", async () => {
  const over: string[] = [];
  for await (const file of new Glob("**/*.{ts,tsx}").scan(import.meta.dir)) {
    // Lists of texts may be long.
    if (/^language\/(?:en|zh-CN)\//.test(file)) continue;
    const code = await Bun.file(join(import.meta.dir, file)).text();
    const lines = code.split("\n").length;
    if (lines > fileLinesMax) over.push(`${file} has ${lines} lines`);
    over.push(...longFunctions(file, code).map((each) => `${file} ${each.name} has ${each.lines} lines`));
  }
  expect(over).toEqual([]);
});

test("a long function is found at any level and reported by name", () => {
  const body = "\n  call();".repeat(functionLinesMax);
  for (const code of [`function Long() {${body}\n}`, `const Long = () => {${body}\n};`, `call(() => {${body}\n});`]) {
    const [found, ...rest] = longFunctions("some.tsx", code);
    expect([found?.lines, rest]).toEqual([functionLinesMax + 2, []]);
    if (code.includes("Long")) expect(found?.name).toBe("Long");
  }
  expect(longFunctions("some.tsx", "function Short() {\n  call();\n}")).toEqual([]);
});
