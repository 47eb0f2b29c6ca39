import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { boundsList, boundsOfCore, pageOfBounds } from "./bounds-list.ts";
import { contractParts, edgeModules, layers, rootModules, rows, sideDoors, storageRows } from "./module-borders.ts";
import {
  cyclesIn,
  edges,
  folderOf,
  listFiles,
  moduleOf,
  name,
  product,
  resolve,
  root,
  specifiersOf,
  src,
} from "./module-graph.ts";
import { pageOfModules, withModulePicture } from "./write-module-picture.ts";

test("a module imports only the modules in its row", () => {
  const wrong = edges().filter(({ file, target }) => {
    const [from, to] = [moduleOf(file), moduleOf(target)];
    if (rootModules.has(from) || from === to) return false;
    if (to === "core" || (to === "ports" && from !== "core")) return false;
    return !(rows[from]?.includes(to) ?? false);
  });
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test("a module is imported only through its entry point", () => {
  const wrong = edges().filter(({ file, target }) => {
    const [from, to] = [moduleOf(file), moduleOf(target)];
    if (from === to || to === "main") return false;
    return target !== `${to}/index.ts` && !(sideDoors[target]?.includes(from) ?? false);
  });
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test("a folder of storage imports only the folders in its row, and every folder has a row", () => {
  const inside = edges().filter(({ file, target }) => moduleOf(file) === "storage" && moduleOf(target) === "storage");
  const wrong = inside.filter(({ file, target }) => {
    const [from, to] = [folderOf(file), folderOf(target)];
    if (from === null || from === to) return false;
    const shared = from !== "disk" && (to === "disk" || (to === "database" && from !== "database"));
    return !shared && !(to !== null && (storageRows[from]?.includes(to) ?? false));
  });
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  const folders = product.map(name).filter((file) => moduleOf(file) === "storage");
  expect([...new Set(folders.map(folderOf))].filter((folder) => folder !== null).sort()).toEqual(
    Object.keys(storageRows).sort(),
  );
});

test("the module diagram is current and contains every module", () => {
  const page = readFileSync(pageOfModules, "utf8");
  expect(page).toBe(withModulePicture(page));
  const modules = new Set(product.map((file) => moduleOf(name(file))));
  expect(layers.flatMap(([, members]) => members).sort()).toEqual([...modules].sort());
});

test("an import within a module is written ./file.ts and an import of another module #name/index.ts", () => {
  const wrong = product.flatMap((file) =>
    specifiersOf(file)
      .filter((specifier) => {
        if (specifier.startsWith("#")) return moduleOf(specifier.slice(1)) === moduleOf(name(file));
        const target = resolve(file, specifier);
        return specifier.startsWith(".") && target.startsWith(src) && moduleOf(name(target)) !== moduleOf(name(file));
      })
      .map((specifier) => `${name(file)} imports ${specifier}`),
  );
  expect(wrong).toEqual([]);
});
test("only the edge uses files, sockets, databases and the runtime", () => {
  const forbidden =
    /\bfrom "(?:node:(?:fs|net|tls|http|https|dgram|dns|child_process|worker_threads|cluster)(?:\/[a-z]+)?|bun:sqlite|bun)"|(?:await|return|void|=>?|[(,?])\s*fetch\(|\bBun\.(?!hash\b)/;
  const wrong = product.filter((file) => {
    const module = moduleOf(name(file));
    if (edgeModules.has(module) || rootModules.has(module) || name(file) === "api/socket/sockets.ts") return false;
    return forbidden.test(withoutComments(readFileSync(file, "utf8")));
  });
  expect(wrong.map(name)).toEqual([]);
});

test("only config and the command line read the environment", () => {
  const wrong = product.filter((file) => {
    const module = moduleOf(name(file));
    return (
      module !== "config" &&
      module !== "cli" &&
      /process\.env|Bun\.env|import\.meta\.env/.test(withoutComments(readFileSync(file, "utf8")))
    );
  });
  expect(wrong.map(name)).toEqual([]);
});

test("time, ids and chance come through ports", () => {
  const wrong = product.filter((file) => {
    const module = moduleOf(name(file));
    if (edgeModules.has(module) || rootModules.has(module)) return false;
    return /Date\.now\(|performance\.now\(|Math\.random\(|crypto\.random|randomUUID|\bimport\s*\{[^}]*\brandom(?:Bytes|Int|Fill)\b|\bsetTimeout\(|\bsetInterval\(|new Date\(\)/.test(
      withoutComments(readFileSync(file, "utf8")),
    );
  });
  expect(wrong.map(name)).toEqual([]);
});

test("no package has an import cycle between files, not even of types", () => {
  const folders = ["gateway/src", "gateway/test", "contract/src", "simulator", "console/src", "bench/src", "test"];
  expect(folders.flatMap((folder) => cyclesIn(join(root, folder)))).toEqual([]);
});

test("every module has an entry point with a description", () => {
  const silent = Object.keys(rows).filter(
    (module) => !/^\/\*\*\n(?: \*.*\n){1,15} \*\/\n/.test(readFileSync(join(src, module, "index.ts"), "utf8")),
  );
  expect(silent).toEqual([]);
});

test("only the APIs and the root import the whole contract; other modules import a named part", () => {
  const wrong = product.filter((file) => {
    const module = moduleOf(name(file));
    if (rootModules.has(module) || module === "admin") return false;
    return specifiersOf(file).some(
      (specifier) => specifier.startsWith("@sluice/contract") && !contractParts.has(specifier),
    );
  });
  expect(wrong.map(name)).toEqual([]);
});

test("core, ports, storage and directory import contract values only from its words, so that no thread loads a schema", () => {
  const value = /(?:^|\n)(?:import|export) (?!type\b)[^;]*? from "(@sluice\/contract[^"]*)"/g;
  const wrong = product.filter((file) => {
    if (!["core", "ports", "storage", "directory"].includes(moduleOf(name(file)))) return false;
    const from = [...readFileSync(file, "utf8").matchAll(value)].map((match) => match[1]);
    return from.some((specifier) => specifier !== "@sluice/contract/words");
  });
  expect(wrong.map(name)).toEqual([]);
});

test("contract and simulator import nothing from other packages of ours", () => {
  for (const folder of ["contract", "simulator"]) {
    const own = listFiles(join(root, folder, "src")).filter((file) => file.endsWith(".ts"));
    const wrong = own.filter((file) => specifiersOf(file).some((specifier) => /^@sluice\/|^#/.test(specifier)));
    expect(wrong.map(name)).toEqual([]);
  }
});

test("bounds.txt lists every bound with its value; `bun gateway/test/bounds-list.ts` writes it", () => {
  expect(readFileSync(pageOfBounds, "utf8")).toBe(boundsList());
});

test("every bound in core is used", () => {
  const text = product
    .filter((file) => !name(file).startsWith("core/bounds/"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const used = new Set([...text.matchAll(/\w+/g)].map(String));
  expect(boundsOfCore().filter((bound) => !used.has(bound))).toEqual([]);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}
