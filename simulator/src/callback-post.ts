import { bounds } from "./bounds.ts";

/** Sends callbacks like vendors: best effort, with a few attempts and limited concurrency. */
export interface CallbackPost {
  /** Calls `done` with whether the callback was accepted, but not if it was dropped because too many were waiting. */
  send(url: string, body: string, done: (accepted: boolean) => void): void;
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
      waiting.push(async () => done(await postWithRetries(call, url, body)));
      next();
    },
  };
}

/** Tries up to three times for a 2xx answer within five seconds. */
async function postWithRetries(call: PostCall, url: string, body: string): Promise<boolean> {
  for (let tries = 0; tries < bounds.callbackTriesMax; tries += 1) {
    if (await postOnce(call, url, body)) return true;
  }
  return false;
}

async function postOnce(call: PostCall, url: string, body: string): Promise<boolean> {
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
