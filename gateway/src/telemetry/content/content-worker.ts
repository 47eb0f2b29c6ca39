import type { ContentBodies } from "#ports/index.ts";
import { serveOrders } from "#system/index.ts";
import { type ReadContent, readContent } from "./read-content.ts";

/** The thread that reads messages of captured bodies: its entry point, so importing it does have an effect, and only in a thread. */
serveOrders({ work: (bodies: ContentBodies): ReadContent | null => readContent(bodies) });
