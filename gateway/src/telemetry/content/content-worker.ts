import type { ContentBodies } from "#ports/index.ts";
import { serveOrders } from "#system/index.ts";
import { type ReadContent, readContent } from "./read-content.ts";

// Entry point of the thread that reads the messages of captured bodies.
serveOrders({ work: (bodies: ContentBodies): ReadContent | null => readContent(bodies) });
