import { asKeyPath } from "@sluice/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { send } from "../../client/call.ts";
import { Problem, problemOfBody } from "../../client/problem.ts";
import { t } from "../../language/areas/media.ts";
import { upload } from "./upload.ts";

/** Calls the data plane with a key of the workspace. Throws a Problem for an error response. */
export interface KeyCall {
  readonly workspace: string;
  readonly key: string;
  /** `path` starts with `/v1/`. `onSent` receives the number of bytes sent of a form. */
  readonly send: (path: string, init: RequestInit, onSent?: (bytes: number) => void) => Promise<Response>;
}

export function useKeyCall(workspace: string, key: string): KeyCall {
  const queries = useQueryClient();
  return useMemo(
    () => ({
      workspace,
      key,
      send: async (path, init, onSent) => {
        const { body, signal } = init;
        const url = asKeyPath(workspace, key) + path;
        try {
          if (onSent === undefined || !(body instanceof FormData)) return await send(url, init);
          return await upload(url, body, { signal: signal ?? new AbortController().signal, onSent });
        } catch (thrown) {
          // Only an ended session opens the sign-in page; a disabled key causes 401 too.
          if (thrown instanceof Problem && thrown.code === "not_signed_in") {
            void queries.invalidateQueries({ queryKey: ["session.show"] });
          }
          throw thrown;
        }
      },
    }),
    [queries, workspace, key],
  );
}

/** Facts from the response headers. */
export interface CallInfo {
  readonly requestId: string | null;
  readonly provider: string | null;
  readonly deployment: string | null;
  readonly attempts: number | null;
  readonly overheadMs: number | null;
  /** Warnings about changed or dropped fields. */
  readonly warnings: string | null;
}

export function callInfoOf({ headers }: Response): CallInfo {
  return {
    requestId: headers.get("x-request-id"),
    provider: headers.get("x-sluice-provider"),
    deployment: headers.get("x-sluice-deployment"),
    attempts: numberOrNull(headers.get("x-sluice-attempts")),
    overheadMs: numberOrNull(headers.get("x-sluice-overhead-ms")),
    warnings: headers.get("x-sluice-warnings"),
  };
}

export interface Answered extends CallInfo {
  readonly value: unknown;
  readonly totalMs: number;
}

interface AskOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Receives the number of bytes sent of a form. */
  readonly onSent?: (bytes: number) => void;
}

/** One call with a JSON response. `body` is sent as JSON, or as form data. */
export async function askAs(
  call: KeyCall,
  path: string,
  body: object | FormData,
  init: AskOptions = {},
): Promise<Answered> {
  const startedMs = performance.now();
  const form = body instanceof FormData;
  const request: RequestInit = {
    method: "POST",
    // The browser sets the content type of a form, with its boundary.
    headers: { ...(form ? {} : { "content-type": "application/json" }), ...init.headers },
    body: form ? body : JSON.stringify(body),
    signal: init.signal ?? null,
  };
  const response = await call.send(path, request, init.onSent);
  const info = callInfoOf(response);
  const value = await jsonOf(response, info.requestId);
  const failed = problemOfBody(value, info.requestId);
  if (failed !== null) throw failed;
  return { ...info, value, totalMs: performance.now() - startedMs };
}

async function jsonOf(response: Response, requestId: string | null): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("upstream_error", t("media.answer.notJson"), requestId);
  }
}

function numberOrNull(text: string | null): number | null {
  const value = text === null || text === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
