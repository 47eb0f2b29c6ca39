import { bounds, Failure } from "#core/index.ts";
import type { AdminOptions } from "./dependencies.ts";
import { readText } from "./handlers/calls.ts";

/**
 * Browsers' reports of violations of the console's content policy. They are not authenticated, so only a few shortened fields are logged, at
 * a limited rate. Always answers 204. Throws request_too_large.
 */
export function policyReports({ clock, observer }: Pick<AdminOptions, "clock" | "observer">) {
  let windowEndsAtMs = 0;
  let inWindow = 0;
  return async (request: Request): Promise<Response> => {
    const report = readReport(await readText(request, bounds.controlBodyBytesMax));
    if (report === null) return new Response(null, { status: 204 });
    const nowMs = clock.monotonic();
    if (nowMs >= windowEndsAtMs) {
      windowEndsAtMs = nowMs + bounds.policyReportsMs;
      inWindow = 0;
    }
    inWindow += 1;
    if (inWindow <= bounds.policyReportsMax) {
      observer.log("warn", "a browser blocked part of the console", report);
    }
    if (inWindow === bounds.policyReportsMax) {
      observer.log("warn", "too many reports from browsers; dropping more for a while", {
        for_ms: bounds.policyReportsMs,
      });
    }
    return new Response(null, { status: 204 });
  };
}

/** Fields of a CSP Level 2 report; null for anything else. Addresses are cut before the query, which may hold secrets. */
function readReport(text: string): Readonly<Record<string, string>> | null {
  const report = member(parsed(text), "csp-report");
  if (report === null || typeof report !== "object") return null;
  const directive = shortText(member(report, "effective-directive") ?? member(report, "violated-directive"));
  if (directive === "") return null;
  const position = [member(report, "line-number"), member(report, "column-number")].filter(Number.isSafeInteger);
  return {
    directive,
    blocked: address(member(report, "blocked-uri")),
    page: address(member(report, "document-uri")),
    source: [address(member(report, "source-file")), ...position].join(":"),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Failure("invalid_json", "The report must be JSON.", { cause });
  }
}

function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
}

function address(value: unknown): string {
  return shortText(value).replace(/[?#].*$/s, "");
}

/** One line, printable, short. */
function shortText(value: unknown): string {
  if (typeof value !== "string") return "";
  return value.replace(/[^\x20-\x7e]/g, "?").slice(0, bounds.policyReportWordMax);
}
