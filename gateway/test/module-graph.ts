import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/** One file's import of another. Paths are relative to gateway/src. */
export interface Edge {
  readonly file: string;
  readonly target: string;
}

export const src = join(import.meta.dir, "..", "src");
/** The root of the repository. */
export const root = join(src, "..", "..");

/** Every source file of the gateway, including unit tests, as absolute paths. */
const files: readonly string[] = listFiles(src).filter((file) => file.endsWith(".ts"));

/** Without the tests. */
export const product: readonly string[] = files.filter((file) => !file.endsWith(".test.ts"));

const importPattern =
  /(?:^|\n)\s*(?:import|export)\s[^"'`;]*?from\s+"([^"]+)"|(?:^|\n)\s*import\s+"([^"]+)"|import\("([^"]+)"\)/g;

/** Type imports count: a module depends on another one's types too. */
export function edges(): Edge[] {
  return product.flatMap((file) => targetsOf(file).map((target) => ({ file: name(file), target: name(target) })));
}

/** The packages of this repository that a file imports: `contract`, `simulator`. */
export function packagesOf(file: string): string[] {
  return specifiersOf(file).flatMap((specifier) => /^@sluice\/([a-z]+)/.exec(specifier)?.[1] ?? []);
}

/** The imported files below a folder. */
function targetsOf(file: string, folder = src): string[] {
  return specifiersOf(file).flatMap((specifier) => {
    if (specifier.startsWith("#")) return [join(src, specifier.slice(1))];
    const target = resolve(file, specifier);
    return specifier.startsWith(".") && target.startsWith(folder) ? [target] : [];
  });
}

/** Each file of the folder that imports itself through others, with the path. Type imports count. */
export function cyclesIn(folder: string): string[] {
  const graph = new Map(
    listFiles(folder)
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => [file, targetsOf(file, folder)]),
  );
  const state = new Map<string, "open" | "done">();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      cycles.push([...path.slice(path.indexOf(file)), file].map((each) => relative(root, each)).join(" → "));
      return;
    }
    state.set(file, "open");
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    state.set(file, "done");
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}

export function specifiersOf(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}

export function resolve(file: string, specifier: string): string {
  return normalize(join(dirname(file), specifier));
}

/** The module of a path below gateway/src: its first folder. A file outside the folders is a module of that name. */
export function moduleOf(path: string): string {
  const first = path.split("/")[0] ?? "";
  return first.endsWith(".ts") ? first.slice(0, -3) : first;
}

/** The folder of a module with inner borders; null for its entry point. */
export function folderOf(path: string): string | null {
  const parts = path.split("/");
  return parts.length > 2 ? (parts[1] ?? null) : null;
}

export function name(file: string): string {
  return relative(src, file);
}

export function listFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((entry) => {
    const path = join(folder, entry);
    return statSync(path).isDirectory() ? listFiles(path) : [path];
  });
}
