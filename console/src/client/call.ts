import type { ModelListAnswer, StatusAnswer, UsageReport } from "@sluice/contract";
import { isAbort, problemOf, unreachable } from "./problem.ts";

/** Every call this page makes. The gateway that served the page is the one that is called, so the shapes agree. */
export function getStatus(signal: AbortSignal): Promise<StatusAnswer> {
  return json<StatusAnswer>("/api/status", { signal });
}

export function getModels(key: string, signal: AbortSignal): Promise<ModelListAnswer> {
  return json<ModelListAnswer>("/v1/models", { signal, headers: bearer(key) });
}

export function getUsage(key: string, signal: AbortSignal): Promise<UsageReport> {
  return json<UsageReport>("/v1/usage", { signal, headers: bearer(key) });
}

export async function setUp(administrator: { token: string; email: string; password: string }): Promise<void> {
  await send("/api/setup", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(administrator),
  });
}

/** Resolves at the status line of a good answer; throws a Problem for any other. An abort is thrown as it is. */
export async function send(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, { ...init, credentials: "same-origin", cache: "no-store" }).catch(
    (thrown: unknown) => {
      throw isAbort(thrown) ? thrown : unreachable(thrown);
    },
  );
  if (!response.ok) throw await problemOf(response);
  return response;
}

export function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

async function json<T>(path: string, init: RequestInit): Promise<T> {
  const response = await send(path, init);
  return (await response.json()) as T;
}
