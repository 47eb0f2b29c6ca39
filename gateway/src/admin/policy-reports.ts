import { bounds, Failure } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { readText } from "./json-body.ts";

interface PolicyReportsOptions {
  readonly clock: Clock;
  readonly observer: Observer;
}

/**
 * What browsers say the console's content policy kept from happening: a fault of ours, or somebody's try. Anybody may send
 * one, so little of it is believed: a few fields, cut short, and only so many lines of the log in a while.
 */
export class PolicyReports {
  readonly #options: PolicyReportsOptions;
  #windowEndsAtMs = 0;
  #inWindow = 0;

  constructor(options: PolicyReportsOptions) {
    this.#options = options;
  }

  /** Always 204: a browser does nothing with any other answer. Throws request_too_large for what is no report. */
  async answer(request: Request): Promise<Response> {
    const report = readReport(await readText(request, bounds.controlBodyBytesMax));
    if (report !== null) this.#log(report);
    return new Response(null, { status: 204 });
  }

  #log(report: Readonly<Record<string, string>>): void {
    const { clock, observer } = this.#options;
    const nowMs = clock.monotonic();
    if (nowMs >= this.#windowEndsAtMs) {
      this.#windowEndsAtMs = nowMs + bounds.policyReportsMs;
      this.#inWindow = 0;
    }
    this.#inWindow += 1;
    if (this.#inWindow > bounds.policyReportsMax) return;
    observer.log("warn", "a browser kept the console from doing something", report);
    if (this.#inWindow === bounds.policyReportsMax) {
      observer.log("warn", "more such reports are left out for a while", { for_ms: bounds.policyReportsMs });
    }
  }
}

/** The fields of CSP Level 2's report; null for anything else. An address is cut before its query, which may hold anything. */
function readReport(text: string): Readonly<Record<string, string>> | null {
  const report = member(parsed(text), "csp-report");
  if (report === null || typeof report !== "object") return null;
  const directive = word(member(report, "effective-directive") ?? member(report, "violated-directive"));
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
    throw new Failure("invalid_json", "A report is JSON.", { cause });
  }
}

function member(value: unknown, name: string): unknown {
  return value !== null && typeof value === "object" ? Reflect.get(value, name) : undefined;
}

function address(value: unknown): string {
  return word(value).replace(/[?#].*$/s, "");
}

/** One line, printable, short. */
function word(value: unknown): string {
  if (typeof value !== "string") return "";
  return value.replace(/[^\x20-\x7e]/g, "?").slice(0, bounds.policyReportWordMax);
}
