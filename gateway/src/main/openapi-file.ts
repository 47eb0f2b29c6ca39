import type { Clock, Observer, StaticFile } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";

export interface OpenApiOrder {
  readonly publicUrl: string | null;
}

export type OpenApiReply = Pick<StaticFile, "bytes" | "gzip" | "etag">;

interface OpenApiFileOptions {
  readonly publicUrl: () => string | null;
  readonly clock: Pick<Clock, "after">;
  readonly observer: Pick<Observer, "log">;
}

/** Long, because a busy machine may be slow. */
const openApiMs = 60_000;

/** Serves the OpenAPI document. It is built in a thread when first requested, which takes half a second and much memory. */
export function openApiFile(options: OpenApiFileOptions) {
  let file: Promise<StaticFile> | null = null;
  return (): Promise<StaticFile> => {
    if (file === null) {
      file = builtInThread(options);
      // The next request tries again.
      file.catch(() => {
        file = null;
      });
    }
    return file;
  };
}

async function builtInThread({ publicUrl, clock, observer }: OpenApiFileOptions): Promise<StaticFile> {
  const thread = new OrderThread<OpenApiOrder, OpenApiReply>({
    entry: new URL("./openapi-worker.ts", import.meta.url),
    name: "OpenAPI document",
    onDeath: (problem) => observer.log("error", "the thread of the OpenAPI document died", { error: problem }),
  });
  const cancelLate = clock.after(openApiMs, () => void thread.end());
  const answer = await thread.run({ publicUrl: publicUrl() }).finally(cancelLate);
  void thread.end();
  if ("failed" in answer) throw new Error(answer.failed);
  return { ...answer.reply, brotli: null, type: "application/json; charset=utf-8", immutable: false };
}
