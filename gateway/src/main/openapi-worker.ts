import { gzipSync } from "node:zlib";
import { openApiDocument } from "@sluice/contract/openapi";
import { serveOrders } from "#system/index.ts";
import type { OpenApiOrder, OpenApiReply } from "./openapi-file.ts";

/** Entry point of the thread that builds the OpenAPI document. */
serveOrders<OpenApiOrder, OpenApiReply>({
  work({ publicUrl }) {
    const bytes = new TextEncoder().encode(JSON.stringify(openApiDocument(publicUrl)));
    return { bytes, gzip: gzipSync(bytes), etag: `W/"${Bun.hash.xxHash64(bytes).toString(36)}"` };
  },
});
