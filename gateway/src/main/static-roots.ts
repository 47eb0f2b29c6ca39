import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { docsFiles } from "#admin/index.ts";
import type { StaticRoot } from "#storage/index.ts";
import { isBuilt } from "#system/index.ts";

/** Where the console's build and the API reference's files are. */
export function staticRoots(): readonly StaticRoot[] {
  // A build has them beside itself; a clone has them where they are made and installed.
  const built = join(import.meta.dir, "static");
  return isBuilt
    ? [
        { prefix: "console", directory: join(built, "console") },
        { prefix: "docs", directory: join(built, "docs"), only: docsFiles },
      ]
    : [
        { prefix: "console", directory: join(import.meta.dir, "..", "..", "..", "console", "dist") },
        {
          prefix: "docs",
          directory: dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json")),
          only: docsFiles,
        },
      ];
}
