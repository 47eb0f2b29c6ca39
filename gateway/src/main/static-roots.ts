import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { docsFiles } from "#admin/index.ts";
import type { StaticRoot } from "#storage/index.ts";

/** Where the console's build and the API reference's files are. */
export const staticRoots: readonly StaticRoot[] = [
  { prefix: "console", directory: join(import.meta.dir, "..", "..", "..", "console", "dist") },
  {
    prefix: "docs",
    directory: dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json")),
    only: docsFiles,
  },
];
