import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { constants, gzip, type ZlibOptions } from "node:zlib";
import type { StaticFile, StaticFiles } from "#ports/index.ts";
import { missingAsNull } from "../disk/files.ts";

const staticFilesMax = 2_000;
const staticFileBytesMax = 16 * 1024 * 1024;

export interface StaticRoot {
  /** `console` serves `console/index.html`. */
  readonly prefix: string;
  readonly directory: string;
  /** Paths inside the directory; default: all files below it. */
  readonly only?: readonly string[];
}

/**
 * Lists the files once and serves only those: a request path is looked up in the list and never used as a path, which rules out
 * traversal. Contents are read on first use and cached. `NAME.br` is the compressed form of NAME. A missing directory has no files.
 */
export async function openStaticFiles(roots: readonly StaticRoot[]): Promise<StaticFiles> {
  const onDisk = new Map<string, string>();
  for (const root of roots) {
    for (const file of await filesBelow(root.directory)) {
      const name = file.split(sep).join("/");
      if (root.only !== undefined && !root.only.includes(name)) continue;
      if (onDisk.size >= staticFilesMax) {
        throw new Error(`${root.directory} has more than ${staticFilesMax} files to serve`);
      }
      onDisk.set(`${root.prefix}/${name}`, join(root.directory, file));
    }
  }
  const compressed = new Map<string, string>();
  for (const [path, file] of onDisk) {
    if (path.endsWith(".br") && onDisk.has(path.slice(0, -3))) compressed.set(path.slice(0, -3), file);
  }
  for (const path of compressed.keys()) onDisk.delete(`${path}.br`);
  const loaded = new Map<string, Promise<StaticFile>>();
  return {
    async find(path) {
      const known = loaded.get(path);
      if (known !== undefined) return known;
      const file = onDisk.get(path);
      if (file === undefined) return null;
      const loading = load(path, file, compressed.get(path) ?? null);
      loaded.set(path, loading);
      // The next request tries again.
      loading.catch(() => loaded.delete(path));
      return loading;
    },
  };
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(missingAsNull);
  // Skips links, which may lead anywhere, and dot files.
  return (entries ?? [])
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
}

async function load(path: string, file: string, brotliFile: string | null): Promise<StaticFile> {
  const bytes = await readBounded(file);
  const extension = extname(file);
  const small = compressible.has(extension) ? await gzipped(bytes, { level: constants.Z_BEST_COMPRESSION }) : bytes;
  return {
    bytes,
    gzip: small.byteLength < bytes.byteLength ? small : null,
    brotli: brotliFile === null ? null : await readBounded(brotliFile),
    type: types.get(extension) ?? "application/octet-stream",
    immutable: hashedName.test(path),
    etag: `W/"${Bun.hash.xxHash64(bytes).toString(36)}-${bytes.byteLength.toString(36)}"`,
  };
}

async function readBounded(file: string): Promise<Uint8Array<ArrayBuffer>> {
  const { size } = await stat(file);
  if (size > staticFileBytesMax) throw new Error(`${file} is larger than ${staticFileBytesMax} bytes`);
  return new Uint8Array(await readFile(file));
}

/** Compresses in a thread, at the highest level because it happens once per file. */
const gzipped = promisify<Uint8Array, ZlibOptions, Uint8Array<ArrayBuffer>>(gzip);

/** Names that the console's build creates in `assets/`: `index-B1x9_Qz3.js`. */
const hashedName = /\/assets\/[^/]+-[\w-]{8}\.\w+$/;

const compressible = new Set([".html", ".js", ".css", ".svg", ".json", ".txt", ".webmanifest"]);

const types = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
  [".png", "image/png"],
  [".ico", "image/x-icon"],
  [".woff2", "font/woff2"],
  [".json", "application/json; charset=utf-8"],
  [".txt", "text/plain; charset=utf-8"],
  [".webmanifest", "application/manifest+json"],
]);
