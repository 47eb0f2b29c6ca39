import type { Observer, StaticFile } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";

export interface OpenApiOrder {
  readonly publicUrl: string | null;
}

export type OpenApiReply = Pick<StaticFile, "bytes" | "gzip" | "etag">;

/** Serves the OpenAPI document. It is built in a thread when first requested, which takes half a second and much memory. */
export function openApiFile(publicUrl: () => string | null, observer: Pick<Observer, "log">) {
  let file: Promise<StaticFile> | null = null;
  return (): Promise<StaticFile> => {
    if (file === null) {
      file = builtInThread({ publicUrl: publicUrl() }, observer);
      // The next request tries again.
      file.catch(() => {
        file = null;
      });
    }
    return file;
  };
}

async function builtInThread(order: OpenApiOrder, observer: Pick<Observer, "log">): Promise<StaticFile> {
  const thread = new OrderThread<OpenApiOrder, OpenApiReply>({
    entry: new URL("./openapi-worker.ts", import.meta.url),
    name: "OpenAPI document",
    onDeath: (problem) => observer.log("error", "the thread of the OpenAPI document died", { error: problem }),
  });
  const answer = await thread.run(order).finally(() => void thread.end());
  if ("failed" in answer) throw new Error(answer.failed);
  return { ...answer.reply, brotli: null, type: "application/json; charset=utf-8", immutable: false };
}
