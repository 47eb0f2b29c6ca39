import { bounds } from "./bounds.ts";

/** Sends callbacks as vendors do: best effort, a few tries, and never more than some at once. */
export interface CallbackPost {
  /** `done` is told whether somebody took it; it is not called for one that was lost for want of room. */
  send(url: string, body: string, done: (taken: boolean) => void): void;
}

export type PostCall = (url: string, init: RequestInit) => Promise<Response>;

export function createCallbackPost(call: PostCall): CallbackPost {
  const waiting: (() => Promise<void>)[] = [];
  let inFlight = 0;

  function next(): void {
    if (inFlight >= bounds.callbacksInFlightMax) return;
    const job = waiting.shift();
    if (job === undefined) return;
    inFlight += 1;
    void job().finally(() => {
      inFlight -= 1;
      next();
    });
  }

  return {
    send(url, body, done) {
      if (waiting.length >= bounds.callbacksWaitingMax) return;
      waiting.push(async () => done(await tried(call, url, body)));
      next();
    },
  };
}

/** Up to three tries until somebody says 2xx within five seconds. */
async function tried(call: PostCall, url: string, body: string): Promise<boolean> {
  for (let tries = 0; tries < bounds.callbackTriesMax; tries += 1) {
    if (await posted(call, url, body)) return true;
  }
  return false;
}

async function posted(call: PostCall, url: string, body: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(bounds.callbackWaitMs);
    const headers = { "content-type": "application/json" };
    const answer = await call(url, { method: "POST", headers, body, signal, redirect: "manual" });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
