import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/**
 * The borders of gateway/src, as docs/architecture.md draws them. A row says which rooms a room may import, beside
 * the ground floor (core, ports), on which every room may stand.
 */
const rows: Readonly<Record<string, readonly string[]>> = {
  core: [],
  ports: ["core"],
  protocols: [],
  providers: ["protocols"],
  bodies: ["providers", "protocols"],
  routing: [],
  limits: [],
  ledger: [],
  identity: [],
  assets: ["providers"],
  relay: ["bodies", "providers", "protocols", "routing", "limits", "ledger"],
  tasks: ["relay", "bodies", "providers", "protocols", "routing", "limits", "ledger", "assets"],
  api: ["tasks", "relay", "bodies", "assets", "identity", "protocols"],
  admin: ["identity", "routing", "limits", "ledger", "providers", "tasks", "assets"],
  storage: [],
  coordination: [],
  upstream: [],
  telemetry: [],
  system: [],
  accounts: [],
  mail: [],
  config: [],
};
/** Rooms that may touch the world: files, sockets, databases, the runtime's own server and clock. */
const rim = new Set([
  "storage",
  "coordination",
  "upstream",
  "telemetry",
  "system",
  "accounts",
  "mail",
  "config",
  "cli",
]);
/** `main` is a file and a room of its own parts; roof rooms may import every room. */
const roof = new Set(["cli", "main"]);

const src = join(import.meta.dir, "..", "src");
const files = listFiles(src).filter((file) => file.endsWith(".ts"));
const product = files.filter((file) => !file.endsWith(".test.ts"));
const importPattern =
  /(?:^|\n)\s*(?:import|export)\s[^"'`;]*?from\s+"([^"]+)"|(?:^|\n)\s*import\s+"([^"]+)"|import\("([^"]+)"\)/g;

test("a room imports only what its row says", () => {
  const wrong = edges().filter(({ from, to }) => {
    if (roof.has(from) || from === to) return false;
    if (to === "core" || (to === "ports" && from !== "core")) return false;
    return !(rows[from]?.includes(to) ?? false);
  });
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test("another room is entered only through its door", () => {
  const wrong = edges().filter(({ from, to, target }) => from !== to && target !== `${to}/index.ts` && to !== "main");
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

test("an in-room import is written ./file.ts and a cross-room one #room/index.ts", () => {
  const wrong = product.flatMap((file) =>
    specifiersOf(file)
      .filter((specifier) => {
        if (specifier.startsWith("#")) return roomOf(join(src, specifier.slice(1))) === roomOf(file);
        const target = resolve(file, specifier);
        return specifier.startsWith(".") && target.startsWith(src) && roomOf(target) !== roomOf(file);
      })
      .map((specifier) => `${name(file)} imports ${specifier}`),
  );
  expect(wrong).toEqual([]);
});

test("only the rim touches files, sockets, databases and the runtime", () => {
  const forbidden =
    /\bfrom "(?:node:(?:fs|net|tls|http|https|dgram|dns|child_process|worker_threads|cluster)(?:\/[a-z]+)?|bun:sqlite|bun)"|(?:await|return|void|=>?|[(,?])\s*fetch\(|\bBun\.(?!hash\b)/;
  const wrong = product.filter((file) => {
    const room = roomOf(file);
    if (rim.has(room) || roof.has(room) || name(file) === "api/server.ts") return false;
    return forbidden.test(withoutComments(readFileSync(file, "utf8")));
  });
  expect(wrong.map(name)).toEqual([]);
});

test("only config and the command line read the environment", () => {
  const wrong = product.filter((file) => {
    const room = roomOf(file);
    return (
      room !== "config" &&
      room !== "cli" &&
      /process\.env|Bun\.env|import\.meta\.env/.test(withoutComments(readFileSync(file, "utf8")))
    );
  });
  expect(wrong.map(name)).toEqual([]);
});

test("time, ids and chance come through ports", () => {
  const wrong = product.filter((file) => {
    const room = roomOf(file);
    if (rim.has(room) || roof.has(room)) return false;
    return /Date\.now\(|performance\.now\(|Math\.random\(|crypto\.random|randomUUID|\bimport\s*\{[^}]*\brandom(?:Bytes|Int|Fill)\b|\bsetTimeout\(|\bsetInterval\(|new Date\(\)/.test(
      withoutComments(readFileSync(file, "utf8")),
    );
  });
  expect(wrong.map(name)).toEqual([]);
});

test("there are no import cycles between files", () => {
  const graph = new Map(product.map((file) => [file, targetsOf(file)]));
  const state = new Map<string, "open" | "done">();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") {
      cycles.push([...path.slice(path.indexOf(file)), file].map(name).join(" → "));
      return;
    }
    state.set(file, "open");
    for (const target of graph.get(file) ?? []) visit(target, [...path, file]);
    state.set(file, "done");
  };
  for (const file of product) visit(file, []);
  expect(cycles).toEqual([]);
});

test("a file has at most 400 lines", () => {
  const packages = ["contract", "simulator", "bench", "console"].map((folder) => join(src, "..", "..", folder, "src"));
  const all = [...files, ...packages.flatMap((folder) => listFiles(folder))].filter(
    (file) => /\.tsx?$/.test(file) && !file.includes(".generated."),
  );
  const long = all.filter((file) => readFileSync(file, "utf8").split("\n").length > 401);
  expect(long.map(name)).toEqual([]);
});

test("every room has a door that says what it is", () => {
  const rooms = Object.keys(rows).filter((room) => files.some((file) => roomOf(file) === room));
  const silent = rooms.filter(
    (room) => !/^\/\*\*\n(?: \*.*\n){1,15} \*\/\n/.test(readFileSync(join(src, room, "index.ts"), "utf8")),
  );
  expect(silent).toEqual([]);
});

test("contract imports nothing of ours, and the simulator neither", () => {
  for (const folder of ["contract", "simulator"]) {
    const own = listFiles(join(src, "..", "..", folder, "src")).filter((file) => file.endsWith(".ts"));
    const wrong = own.filter((file) => specifiersOf(file).some((specifier) => /^@sluice\/|^#/.test(specifier)));
    expect(wrong.map(name)).toEqual([]);
  }
});

interface Edge {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly target: string;
}

function edges(): Edge[] {
  return product.flatMap((file) =>
    targetsOf(file).map((target) => ({
      file: name(file),
      from: roomOf(file),
      to: roomOf(target),
      target: name(target),
    })),
  );
}

function targetsOf(file: string): string[] {
  return specifiersOf(file).flatMap((specifier) => {
    if (specifier.startsWith("#")) return [join(src, specifier.slice(1))];
    const target = resolve(file, specifier);
    return specifier.startsWith(".") && target.startsWith(src) ? [target] : [];
  });
}

function specifiersOf(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? match[3] ?? "");
}

function resolve(file: string, specifier: string): string {
  return normalize(join(dirname(file), specifier));
}

function roomOf(file: string): string {
  const first = relative(src, file).split("/")[0] ?? "";
  return first.endsWith(".ts") ? first.slice(0, -3) : first;
}

function name(file: string): string {
  return relative(src, file);
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}

function listFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((entry) => {
    const path = join(folder, entry);
    return statSync(path).isDirectory() ? listFiles(path) : [path];
  });
}
